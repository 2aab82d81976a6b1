// See transfer.h.
#include "transfer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static size_t keep(char *bytes, size_t size, size_t count, void *context) {
    struct transfer *transfer = context;
    size_t added = size * count;
    if (transfer->body_room - transfer->body_count < added) {
        size_t room = 2 * (transfer->body_count + added);
        char *grown = realloc(transfer->body, room);
        if (grown == NULL) return 0;
        transfer->body = grown;
        transfer->body_room = room;
    }
    memcpy(transfer->body + transfer->body_count, bytes, added);
    transfer->body_count += added;
    transfer->bytes += added;
    return added;
}

static size_t count_only(char *bytes, size_t size, size_t count, void *context) {
    (void)bytes;
    struct transfer *transfer = context;
    transfer->bytes += size * count;
    return size * count;
}

static size_t save(char *bytes, size_t size, size_t count, void *context) {
    struct transfer *transfer = context;
    size_t written = fwrite(bytes, size, count, transfer->file);
    transfer->bytes += written * size;
    return written * size;
}

void transfer_set_up(struct transfer *transfer, const struct peer_options *options, long receive_buffer) {
    CURL *easy = curl_easy_init();
    if (easy == NULL) peer_die("curl_easy_init");
    transfer->easy = easy;
    curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_MAXCONNECTS, (long)(options->connections + options->origins));
    if (receive_buffer > 0) curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, receive_buffer);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, options->http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1);
    // Or each of the first requests would open a connection before one is known to be shared.
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT, options->http2 ? 1L : 0L);
    if (options->gzip) curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip");
    if (options->cacert != NULL) {
        struct stat about;
        bool is_directory = stat(options->cacert, &about) == 0 && S_ISDIR(about.st_mode);
        // Exactly one of the two: libcurl keeps parsed roots between connections only where there is no directory.
        curl_easy_setopt(easy, CURLOPT_CAINFO, is_directory ? NULL : options->cacert);
        curl_easy_setopt(easy, CURLOPT_CAPATH, is_directory ? options->cacert : NULL);
    }
    switch (options->operation) {
    case PEER_GET:
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, keep);
        break;
    case PEER_DOWNLOAD:
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, count_only);
        break;
    case PEER_SAVE:
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, save);
        break;
    case PEER_UPLOAD:
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, keep);
        curl_easy_setopt(easy, CURLOPT_POST, 1L);
        // Without "Expect: 100-continue", which no other peer sends.
        transfer->fields = curl_slist_append(NULL, "Expect:");
        curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->fields);
        break;
    }
}

void transfer_begin(struct transfer *transfer, const struct peer_options *options, const char *url) {
    transfer->body_count = 0;
    transfer->bytes = 0;
    curl_easy_setopt(transfer->easy, CURLOPT_URL, url);
    if (options->operation != PEER_SAVE && options->operation != PEER_UPLOAD) return;
    if (transfer->file != NULL) fclose(transfer->file);
    transfer->file = fopen(options->file, options->operation == PEER_SAVE ? "wb" : "rb");
    if (transfer->file == NULL) peer_die(options->file);
    if (options->operation == PEER_SAVE) return;
    struct stat about;
    if (fstat(fileno(transfer->file), &about) != 0) peer_die(options->file);
    curl_easy_setopt(transfer->easy, CURLOPT_READDATA, transfer->file);
    curl_easy_setopt(transfer->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)about.st_size);
}

void transfer_end(struct transfer *transfer, struct peer_phase *phase, struct peer_record *record, CURLcode code) {
    long status = 0;
    curl_off_t sent = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(transfer->easy, CURLINFO_SIZE_UPLOAD_T, &sent);
    if (transfer->file != NULL) fclose(transfer->file);
    transfer->file = NULL;
    if (code != CURLE_OK) peer_failed(phase, record, curl_easy_strerror(code));
    else if (status != 200) peer_failed(phase, record, "not a 200");
    else peer_finished(phase, record, transfer->since, transfer->bytes + (uint64_t)sent);
}

const char *transfer_client(const char *interface) {
    static char text[128];
    char library[64] = "", tls[64] = "";
    sscanf(curl_version(), "%63s %63s", library, tls);
    snprintf(text, sizeof text, "%s %s, %s", library, interface, tls);
    return text;
}
