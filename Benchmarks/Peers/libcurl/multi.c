// libcurl's multi interface driven by epoll through curl_multi_socket_action, the way its documentation gives for
// many transfers, and with the largest receive buffer.
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "transfer.h"

#define RECEIVE_BUFFER (512L * 1024)

static struct peer_options options;
static struct peer_phase phase;
static struct peer_record *record;
static CURLM *multi;
static char **urls;
static uint64_t next_url;
static int poller;
static long timeout_ms = -1;

static int socket_wanted(CURL *easy, curl_socket_t descriptor, int what, void *context, void *known) {
    (void)easy;
    (void)context;
    struct epoll_event event = {.data.fd = descriptor};
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(poller, EPOLL_CTL_DEL, descriptor, NULL);
        return 0;
    }
    if (what & CURL_POLL_IN) event.events |= EPOLLIN;
    if (what & CURL_POLL_OUT) event.events |= EPOLLOUT;
    epoll_ctl(poller, known == NULL ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, descriptor, &event);
    if (known == NULL) curl_multi_assign(multi, descriptor, &poller);
    return 0;
}

static int timer_wanted(CURLM *handle, long milliseconds, void *context) {
    (void)handle;
    (void)context;
    timeout_ms = milliseconds;
    return 0;
}

static void start(struct transfer *transfer) {
    if (!peer_take(&phase)) return;
    transfer->since = peer_now();
    transfer_begin(transfer, &options, urls[next_url++ % options.origins]);
    if (curl_multi_add_handle(multi, transfer->easy) != CURLM_OK) peer_die("curl_multi_add_handle");
}

static void collect_finished(void) {
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(multi, &left)) != NULL) {
        if (message->msg != CURLMSG_DONE) continue;
        CURLcode code = message->data.result;
        CURL *easy = message->easy_handle;
        struct transfer *transfer;
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&transfer);
        curl_multi_remove_handle(multi, easy);
        transfer_end(transfer, &phase, record, code);
        start(transfer);
    }
}

static void run_phase(struct peer_phase new_phase, struct transfer *transfers) {
    phase = new_phase;
    for (size_t i = 0; i < options.connections; i++) start(&transfers[i]);
    struct epoll_event events[256];
    int running;
    while (phase.finished < phase.started) {
        int count = epoll_wait(poller, events, 256, (int)timeout_ms);
        if (count < 0 && errno != EINTR) peer_die("epoll_wait");
        if (count == 0) curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
        for (int i = 0; i < count; i++) {
            int what = 0;
            if (events[i].events & EPOLLIN) what |= CURL_CSELECT_IN;
            if (events[i].events & EPOLLOUT) what |= CURL_CSELECT_OUT;
            if (events[i].events & (EPOLLERR | EPOLLHUP)) what |= CURL_CSELECT_ERR;
            curl_multi_socket_action(multi, events[i].data.fd, what, &running);
        }
        collect_finished();
    }
}

int main(int argc, char **argv) {
    options = peer_parse(argc, argv);
    peer_raise_descriptor_limit();
    curl_global_init(CURL_GLOBAL_DEFAULT);
    poller = epoll_create1(EPOLL_CLOEXEC);
    multi = curl_multi_init();
    urls = calloc(options.origins, sizeof *urls);
    struct transfer *transfers = calloc(options.connections, sizeof *transfers);
    if (poller < 0 || multi == NULL || urls == NULL || transfers == NULL) peer_die("no multi handle");
    for (size_t i = 0; i < options.origins; i++) urls[i] = peer_url(&options, i);
    bool large = options.operation != PEER_GET;
    for (size_t i = 0; i < options.connections; i++)
        transfer_set_up(&transfers[i], &options, large ? RECEIVE_BUFFER : 0);
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, socket_wanted);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer_wanted);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)(options.connections + options.origins));

    run_phase(peer_warmup_phase(&options), transfers);
    struct peer_phase measured = peer_measured_phase(&options, &record);
    run_phase(measured, transfers);
    return peer_print(record, transfer_client("multi"));
}
