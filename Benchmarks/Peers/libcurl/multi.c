// libcurl's multi interface with curl_multi_perform and curl_multi_poll, and with the largest receive buffer for large
// bodies. With up to some hundred transfers this takes a fifth less processor time than curl_multi_socket_action on
// epoll, which makes several system calls for each transfer.
#include <stdlib.h>

#include "transfer.h"

#define RECEIVE_BUFFER (512L * 1024)
#define LONGEST_WAIT_MS 1000

static struct peer_options options;
static struct peer_phase phase;
static struct peer_record *record;
static CURLM *multi;
static char **urls;
static uint64_t next_url;

static void start(struct transfer *transfer) {
    if (!peer_take(&phase)) return;
    transfer->since = peer_now();
    transfer_begin(transfer, &options, urls[next_url++ % options.origins]);
    if (curl_multi_add_handle(multi, transfer->easy) != CURLM_OK) peer_die("curl_multi_add_handle");
}

static bool collect_finished(void) {
    bool found = false;
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(multi, &left)) != NULL) {
        if (message->msg != CURLMSG_DONE) continue;
        found = true;
        CURLcode code = message->data.result;
        CURL *easy = message->easy_handle;
        struct transfer *transfer;
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&transfer);
        curl_multi_remove_handle(multi, easy);
        transfer_end(transfer, &phase, record, code);
        start(transfer);
    }
    return found;
}

static void run_phase(struct peer_phase new_phase, struct transfer *transfers) {
    phase = new_phase;
    for (size_t i = 0; i < options.connections; i++) start(&transfers[i]);
    int running;
    while (phase.finished < phase.started) {
        if (curl_multi_perform(multi, &running) != CURLM_OK) peer_die("curl_multi_perform");
        // New transfers are sent before anything is waited for.
        if (!collect_finished()) curl_multi_poll(multi, NULL, 0, LONGEST_WAIT_MS, NULL);
    }
}

int main(int argc, char **argv) {
    options = peer_parse(argc, argv);
    peer_raise_descriptor_limit();
    curl_global_init(CURL_GLOBAL_DEFAULT);
    multi = curl_multi_init();
    urls = calloc(options.origins, sizeof *urls);
    struct transfer *transfers = calloc(options.connections, sizeof *transfers);
    if (multi == NULL || urls == NULL || transfers == NULL) peer_die("no multi handle");
    for (size_t i = 0; i < options.origins; i++) urls[i] = peer_url(&options, i);
    bool large = options.operation != PEER_GET;
    for (size_t i = 0; i < options.connections; i++)
        transfer_set_up(&transfers[i], &options, large ? RECEIVE_BUFFER : 0);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)(options.connections + options.origins));

    run_phase(peer_warmup_phase(&options), transfers);
    struct peer_phase measured = peer_measured_phase(&options, &record);
    run_phase(measured, transfers);
    return peer_print(record, transfer_client("multi"));
}
