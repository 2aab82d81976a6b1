// libcurl's easy interface: one blocking request at a time, with libcurl's defaults.
#include <stdlib.h>

#include "transfer.h"

static void run_phase(struct peer_phase phase, struct peer_record *record, struct transfer *transfer,
                      const struct peer_options *options, char *const *urls) {
    while (peer_take(&phase)) {
        transfer->since = peer_now();
        transfer_begin(transfer, options, urls[(phase.started - 1) % options->origins]);
        transfer_end(transfer, &phase, record, curl_easy_perform(transfer->easy));
    }
}

int main(int argc, char **argv) {
    struct peer_options options = peer_parse(argc, argv);
    if (options.connections > 1) peer_unsupported("more than one request at a time");
    curl_global_init(CURL_GLOBAL_DEFAULT);
    char **urls = calloc(options.origins, sizeof *urls);
    if (urls == NULL) peer_die("out of memory");
    for (size_t i = 0; i < options.origins; i++) urls[i] = peer_url(&options, i);
    struct transfer transfer = {0};
    transfer_set_up(&transfer, &options, 0);

    struct peer_record *record = NULL;
    run_phase(peer_warmup_phase(&options), NULL, &transfer, &options, urls);
    struct peer_phase measured = peer_measured_phase(&options, &record);
    run_phase(measured, record, &transfer, &options, urls);
    return peer_print(record, transfer_client("easy"));
}
