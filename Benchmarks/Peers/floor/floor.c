// The floor: what the work costs when a program does nothing but the work. One thread, epoll, non-blocking sockets,
// OpenSSL, zlib. It reads only what it must of an answer (where the head ends, Content-Length, Connection: close),
// checks certificates as a client should, and reuses connections and TLS sessions.
// It is a yardstick and no client: no redirects, no chunked bodies, no time-outs.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "peer.h"

#define BUFFER_BYTES ((size_t)256 * 1024)
#define PIPE_BYTES (1 << 20)

enum state { CONNECTING, HANDSHAKING, SENDING, READING_HEAD, READING_BODY, IDLE, CLOSED };

struct connection {
    int descriptor;
    enum state state;
    SSL *ssl;
    struct origin *origin;
    struct connection *next;  // in the list of idle or of closed ones
    uint64_t since;
    const char *out;  // the rest of the request's head
    size_t out_count;
    off_t file_offset;  // how much of the file was sent
    char *head;         // the first part of a head that came in several; NULL otherwise
    size_t head_count;
    int64_t body_left;
    uint64_t body_bytes;
    bool closes;
    z_stream *inflater;
};

struct origin {
    struct sockaddr_storage address;
    socklen_t address_length;
    char host[256];
    bool is_literal;
    char *request;
    size_t request_count;
    SSL_SESSION *session;
    struct connection *idle;
};

static struct peer_options options;
static struct peer_phase phase;
static struct peer_record *record;
static struct origin *origins;
static uint64_t next_origin;
static int poller;
static struct connection *closed;
static SSL_CTX *tls;
static char *buffer;
static char *inflated;
static int file = -1;
static off_t file_bytes;
static int splice_pipe[2] = {-1, -1};

static void start_next(void);
static void advance(struct connection *connection);

// MARK: Set-up

static int session_made(SSL *ssl, SSL_SESSION *session) {
    struct connection *connection = SSL_get_app_data(ssl);
    if (connection == NULL) return 0;
    if (connection->origin->session != NULL) SSL_SESSION_free(connection->origin->session);
    connection->origin->session = session;
    return 1;
}

static void set_up_tls(void) {
    tls = SSL_CTX_new(TLS_client_method());
    if (tls == NULL) peer_die("no TLS");
    SSL_CTX_set_min_proto_version(tls, TLS1_2_VERSION);
    SSL_CTX_set_verify(tls, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_mode(tls, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_session_cache_mode(tls, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(tls, session_made);
    SSL_CTX_set_read_ahead(tls, 1);
    struct stat about;
    int loaded;
    if (options.cacert == NULL) loaded = SSL_CTX_set_default_verify_paths(tls);
    else if (stat(options.cacert, &about) == 0 && S_ISDIR(about.st_mode))
        loaded = SSL_CTX_load_verify_dir(tls, options.cacert);
    else loaded = SSL_CTX_load_verify_file(tls, options.cacert);
    if (loaded != 1) peer_die("the anchors cannot be read");
}

static void set_up_origin(struct origin *origin, size_t number) {
    char *url = peer_url(&options, number);
    bool secure = strncmp(url, "https://", 8) == 0;
    if (!secure && strncmp(url, "http://", 7) != 0) peer_die("not an http or https URL");
    char *authority = url + (secure ? 8 : 7);
    char *path = strchr(authority, '/');
    if (path == NULL) peer_die("a URL without a path");
    char port[8] = "80";
    if (secure) strcpy(port, "443");
    const char *colon = memchr(authority, ':', (size_t)(path - authority));
    const char *host_end = colon == NULL ? path : colon;
    snprintf(origin->host, sizeof origin->host, "%.*s", (int)(host_end - authority), authority);
    if (colon != NULL) snprintf(port, sizeof port, "%.*s", (int)(path - colon - 1), colon + 1);

    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found;
    if (getaddrinfo(origin->host, port, &hints, &found) != 0) peer_die("the host is not known");
    memcpy(&origin->address, found->ai_addr, found->ai_addrlen);
    origin->address_length = found->ai_addrlen;
    freeaddrinfo(found);
    struct in_addr literal;
    origin->is_literal = inet_pton(AF_INET, origin->host, &literal) == 1;

    char length_field[64] = "";
    if (options.operation == PEER_UPLOAD)
        snprintf(length_field, sizeof length_field, "Content-Length: %lld\r\n", (long long)file_bytes);
    int count = asprintf(&origin->request, "%s %s HTTP/1.1\r\nHost: %.*s\r\nAccept: */*\r\n%s%s\r\n",
                         options.operation == PEER_UPLOAD ? "POST" : "GET", path, (int)(path - authority), authority,
                         options.gzip ? "Accept-Encoding: gzip\r\n" : "", length_field);
    if (count < 0) peer_die("out of memory");
    origin->request_count = (size_t)count;
    if (secure && tls == NULL) set_up_tls();
    free(url);
}

static void set_up_files(void) {
    if (options.operation == PEER_UPLOAD) {
        file = open(options.file, O_RDONLY | O_CLOEXEC);
        struct stat about;
        if (file < 0 || fstat(file, &about) != 0) peer_die(options.file);
        file_bytes = about.st_size;
    } else if (options.operation == PEER_SAVE) {
        file = open(options.file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (file < 0) peer_die(options.file);
        if (pipe2(splice_pipe, O_CLOEXEC | O_NONBLOCK) != 0) peer_die("pipe");
        fcntl(splice_pipe[1], F_SETPIPE_SZ, PIPE_BYTES);
    }
}

// MARK: Connections

static void free_inflater(struct connection *connection) {
    if (connection->inflater != NULL) inflateEnd(connection->inflater);
    free(connection->inflater);
    connection->inflater = NULL;
}

static void close_connection(struct connection *connection) {
    if (connection->ssl != NULL) {
        if (connection->state > HANDSHAKING) SSL_shutdown(connection->ssl);
        SSL_free(connection->ssl);
    }
    close(connection->descriptor);
    free_inflater(connection);
    free(connection->head);
    // The batch of events being handled may still name it.
    connection->state = CLOSED;
    connection->next = closed;
    closed = connection;
}

static void free_closed(void) {
    while (closed != NULL) {
        struct connection *next = closed->next;
        free(closed);
        closed = next;
    }
}

static void fail(struct connection *connection, const char *why) {
    peer_failed(&phase, record, why);
    close_connection(connection);
    start_next();
}

static struct connection *open_connection(struct origin *origin) {
    struct connection *connection = calloc(1, sizeof *connection);
    if (connection == NULL) peer_die("out of memory");
    connection->origin = origin;
    connection->descriptor = socket(origin->address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (connection->descriptor < 0) peer_die("socket");
    int on = 1;
    setsockopt(connection->descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    int result = connect(connection->descriptor, (struct sockaddr *)&origin->address, origin->address_length);
    if (result != 0 && errno != EINPROGRESS) peer_die("connect");
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = connection};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, connection->descriptor, &event) != 0) peer_die("epoll_ctl");
    connection->state = CONNECTING;
    return connection;
}

static void begin_handshake(struct connection *connection) {
    connection->ssl = SSL_new(tls);
    if (connection->ssl == NULL) peer_die("SSL_new");
    SSL_set_fd(connection->ssl, connection->descriptor);
    SSL_set_app_data(connection->ssl, connection);
    X509_VERIFY_PARAM *rules = SSL_get0_param(connection->ssl);
    if (connection->origin->is_literal) {
        X509_VERIFY_PARAM_set1_ip_asc(rules, connection->origin->host);
    } else {
        X509_VERIFY_PARAM_set1_host(rules, connection->origin->host, 0);
        SSL_set_tlsext_host_name(connection->ssl, connection->origin->host);
    }
    if (connection->origin->session != NULL) SSL_set_session(connection->ssl, connection->origin->session);
    SSL_set_connect_state(connection->ssl);
    connection->state = HANDSHAKING;
}

// MARK: Requests

static void begin_request(struct connection *connection) {
    connection->out = connection->origin->request;
    connection->out_count = connection->origin->request_count;
    connection->file_offset = 0;
    connection->body_left = 0;
    connection->body_bytes = 0;
    connection->closes = false;
    if (connection->state == IDLE) {
        connection->state = SENDING;
        advance(connection);
    }
}

// Called from the main loop and from the end of a request; `starting` keeps a run of answers that are complete at
// once from growing the stack.
static bool starting;
static size_t to_start;

static void start_next(void) {
    to_start++;
    if (starting) return;
    starting = true;
    while (to_start > 0) {
        to_start--;
        if (!peer_take(&phase)) continue;
        struct origin *origin = &origins[next_origin++ % options.origins];
        uint64_t since = peer_now();
        struct connection *connection = origin->idle;
        if (connection != NULL) origin->idle = connection->next;
        else connection = open_connection(origin);
        connection->since = since;
        begin_request(connection);
    }
    starting = false;
}

static void request_finished(struct connection *connection) {
    uint64_t sent = options.operation == PEER_UPLOAD ? (uint64_t)connection->file_offset : 0;
    peer_finished(&phase, record, connection->since, connection->body_bytes + sent);
    free_inflater(connection);
    if (connection->closes) {
        close_connection(connection);
    } else {
        connection->state = IDLE;
        connection->next = connection->origin->idle;
        connection->origin->idle = connection;
    }
    start_next();
}

// MARK: Writing

enum progress { DONE, BLOCKED, FAILED };

static ssize_t tls_result(struct connection *connection, int result) {
    if (result > 0) return result;
    int error = SSL_get_error(connection->ssl, result);
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) {
        errno = EAGAIN;
        return -1;
    }
    if (error == SSL_ERROR_ZERO_RETURN) return 0;
    errno = EPROTO;
    return -1;
}

static enum progress send_head(struct connection *connection) {
    int flags = MSG_NOSIGNAL | (options.operation == PEER_UPLOAD ? MSG_MORE : 0);
    while (connection->out_count > 0) {
        ssize_t sent = connection->ssl != NULL
            ? tls_result(connection, SSL_write(connection->ssl, connection->out, (int)connection->out_count))
            : send(connection->descriptor, connection->out, connection->out_count, flags);
        if (sent <= 0) return errno == EAGAIN ? BLOCKED : FAILED;
        connection->out += sent;
        connection->out_count -= (size_t)sent;
    }
    return DONE;
}

static enum progress send_file(struct connection *connection) {
    while (connection->file_offset < file_bytes) {
        ssize_t sent;
        if (connection->ssl == NULL) {
            sent = sendfile(connection->descriptor, file, &connection->file_offset,
                            (size_t)(file_bytes - connection->file_offset));
            if (sent <= 0) return sent < 0 && errno == EAGAIN ? BLOCKED : FAILED;
        } else {
            ssize_t count = pread(file, buffer, BUFFER_BYTES, connection->file_offset);
            if (count <= 0) return FAILED;
            sent = tls_result(connection, SSL_write(connection->ssl, buffer, (int)count));
            if (sent <= 0) return errno == EAGAIN ? BLOCKED : FAILED;
            connection->file_offset += sent;
        }
    }
    return DONE;
}

// MARK: Reading

static ssize_t receive(struct connection *connection, char *into, size_t room) {
    if (connection->ssl == NULL) return recv(connection->descriptor, into, room, 0);
    return tls_result(connection, SSL_read(connection->ssl, into, (int)room));
}

static bool has_prefix(const char *line, size_t count, const char *prefix, size_t prefix_count) {
    return count >= prefix_count && strncasecmp(line, prefix, prefix_count) == 0;
}

// Reads the fields that say where the body ends; the status must be 200.
static bool parse_head(struct connection *connection, const char *head, size_t count) {
    if (count < 12 || memcmp(head + 8, " 200", 4) != 0) return false;
    int64_t length = -1;
    const char *line = head, *end = head + count;
    while (line < end) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        if (newline == NULL) break;
        size_t line_count = (size_t)(newline - line);
        if (has_prefix(line, line_count, "content-length:", 15)) length = strtoll(line + 15, NULL, 10);
        else if (has_prefix(line, line_count, "connection: close", 17)) connection->closes = true;
        else if (options.gzip && has_prefix(line, line_count, "content-encoding: gzip", 22)) {
            connection->inflater = calloc(1, sizeof *connection->inflater);
            if (connection->inflater == NULL || inflateInit2(connection->inflater, 15 + 16) != Z_OK) return false;
        }
        line = newline + 1;
    }
    connection->body_left = length;
    return length >= 0;
}

static bool take_body(struct connection *connection, const char *bytes, size_t count) {
    if ((int64_t)count > connection->body_left) return false;
    connection->body_left -= (int64_t)count;
    if (connection->inflater != NULL) {
        z_stream *stream = connection->inflater;
        stream->next_in = (Bytef *)bytes;
        stream->avail_in = (uInt)count;
        while (stream->avail_in > 0) {
            stream->next_out = (Bytef *)inflated;
            stream->avail_out = (uInt)BUFFER_BYTES;
            int result = inflate(stream, Z_NO_FLUSH);
            connection->body_bytes += BUFFER_BYTES - stream->avail_out;
            if (result == Z_STREAM_END) break;
            if (result != Z_OK) return false;
        }
        return true;
    }
    connection->body_bytes += count;
    if (options.operation != PEER_SAVE) return true;
    return write(file, bytes, count) == (ssize_t)count;
}

// Socket to pipe to file, without the bytes ever being in this process.
static enum progress splice_body(struct connection *connection) {
    while (connection->body_left > 0) {
        ssize_t count = splice(connection->descriptor, NULL, splice_pipe[1], NULL, (size_t)connection->body_left,
                               SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
        if (count <= 0) return count < 0 && errno == EAGAIN ? BLOCKED : FAILED;
        connection->body_left -= count;
        connection->body_bytes += (uint64_t)count;
        while (count > 0) {
            ssize_t written = splice(splice_pipe[0], NULL, file, NULL, (size_t)count, SPLICE_F_MOVE);
            if (written <= 0) return FAILED;
            count -= written;
        }
    }
    return DONE;
}

static enum progress read_body(struct connection *connection) {
    if (options.operation == PEER_SAVE && connection->ssl == NULL) return splice_body(connection);
    while (connection->body_left > 0) {
        ssize_t count = receive(connection, buffer, BUFFER_BYTES);
        if (count <= 0) return count < 0 && errno == EAGAIN ? BLOCKED : FAILED;
        if (!take_body(connection, buffer, (size_t)count)) return FAILED;
        // A short read has emptied the socket; the next byte makes a new edge. A TLS record says nothing about it.
        bool drained = connection->ssl == NULL && (size_t)count < BUFFER_BYTES;
        if (drained && connection->body_left > 0) return BLOCKED;
    }
    return DONE;
}

static enum progress read_head(struct connection *connection) {
    for (;;) {
        size_t kept = connection->head_count;
        if (kept == BUFFER_BYTES) return FAILED;
        if (kept > 0) memcpy(buffer, connection->head, kept);
        ssize_t count = receive(connection, buffer + kept, BUFFER_BYTES - kept);
        if (count <= 0) return count < 0 && errno == EAGAIN ? BLOCKED : FAILED;
        size_t total = kept + (size_t)count;
        const char *end = memmem(buffer, total, "\r\n\r\n", 4);
        if (end != NULL) {
            size_t head_count = (size_t)(end - buffer) + 4;
            free(connection->head);
            connection->head = NULL;
            connection->head_count = 0;
            if (!parse_head(connection, buffer, head_count)) return FAILED;
            return take_body(connection, buffer + head_count, total - head_count) ? DONE : FAILED;
        }
        connection->head = realloc(connection->head, total);
        if (connection->head == NULL) peer_die("out of memory");
        memcpy(connection->head, buffer, total);
        connection->head_count = total;
    }
}

// MARK: The connection's life

static enum progress finish_connecting(struct connection *connection) {
    int error = 0;
    socklen_t length = sizeof error;
    struct sockaddr_storage peer;
    socklen_t peer_length = sizeof peer;
    if (getsockopt(connection->descriptor, SOL_SOCKET, SO_ERROR, &error, &length) != 0 || error != 0) return FAILED;
    if (getpeername(connection->descriptor, (struct sockaddr *)&peer, &peer_length) != 0) return BLOCKED;
    return DONE;
}

static enum progress shake_hands(struct connection *connection) {
    ERR_clear_error();
    int result = SSL_do_handshake(connection->ssl);
    if (result == 1) return DONE;
    int error = SSL_get_error(connection->ssl, result);
    return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? BLOCKED : FAILED;
}

static enum progress step(struct connection *connection) {
    enum progress progress;
    switch (connection->state) {
    case CONNECTING:
        progress = finish_connecting(connection);
        if (progress != DONE) return progress;
        if (tls != NULL) begin_handshake(connection);
        else connection->state = SENDING;
        return DONE;
    case HANDSHAKING:
        progress = shake_hands(connection);
        if (progress == DONE) connection->state = SENDING;
        return progress;
    case SENDING:
        progress = send_head(connection);
        if (progress == DONE && options.operation == PEER_UPLOAD) progress = send_file(connection);
        if (progress == DONE) connection->state = READING_HEAD;
        return progress;
    case READING_HEAD:
        progress = read_head(connection);
        if (progress == DONE) connection->state = READING_BODY;
        return progress;
    case READING_BODY:
        progress = read_body(connection);
        if (progress == DONE) request_finished(connection);
        // A finished connection may have the next request already, or be closed.
        return progress == DONE ? BLOCKED : progress;
    case IDLE:
    case CLOSED:
        return BLOCKED;
    }
    return FAILED;
}

static void advance(struct connection *connection) {
    enum progress progress;
    do progress = step(connection);
    while (progress == DONE);
    if (progress == FAILED) fail(connection, "a request failed");
}

static void drop_idle(struct connection *connection) {
    struct connection **place = &connection->origin->idle;
    while (*place != NULL && *place != connection) place = &(*place)->next;
    if (*place != NULL) *place = connection->next;
    close_connection(connection);
}

static void run_phase(struct peer_phase new_phase) {
    phase = new_phase;
    for (size_t i = 0; i < options.connections; i++) start_next();
    struct epoll_event events[256];
    while (phase.finished < phase.started) {
        int count = epoll_wait(poller, events, 256, -1);
        if (count < 0 && errno != EINTR) peer_die("epoll_wait");
        for (int i = 0; i < count; i++) {
            struct connection *connection = events[i].data.ptr;
            bool gone = (events[i].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
            if (connection->state != IDLE) advance(connection);
            else if (gone) drop_idle(connection);
        }
        free_closed();
    }
}

int main(int argc, char **argv) {
    options = peer_parse(argc, argv);
    if (options.http2) peer_unsupported("HTTP/2; h2load is its floor");
    signal(SIGPIPE, SIG_IGN);
    peer_raise_descriptor_limit();
    set_up_files();
    buffer = malloc(BUFFER_BYTES);
    inflated = malloc(BUFFER_BYTES);
    origins = calloc(options.origins, sizeof *origins);
    if (buffer == NULL || inflated == NULL || origins == NULL) peer_die("out of memory");
    for (size_t i = 0; i < options.origins; i++) set_up_origin(&origins[i], i);
    poller = epoll_create1(EPOLL_CLOEXEC);
    if (poller < 0) peer_die("epoll_create1");

    run_phase(peer_warmup_phase(&options));
    struct peer_phase measured = peer_measured_phase(&options, &record);
    run_phase(measured);
    return peer_print(record, "C, epoll, OpenSSL");
}
