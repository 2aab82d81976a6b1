// What the two libcurl peers share: one request as an easy handle. libcurl's defaults are kept wherever a program
// that does the same work would keep them.
#ifndef TRANSFER_H
#define TRANSFER_H

#include <curl/curl.h>
#include <stdint.h>
#include <stdio.h>

#include "peer.h"

struct transfer {
    CURL *easy;
    char *body;  // get: the whole body, grown as needed
    size_t body_count;
    size_t body_room;
    FILE *file;
    uint64_t bytes;
    uint64_t since;
    struct curl_slist *fields;
};

// `receive_buffer` is CURLOPT_BUFFERSIZE; 0 keeps libcurl's own 16 KiB.
void transfer_set_up(struct transfer *transfer, const struct peer_options *options, long receive_buffer);

// Points the handle at its next URL and forgets the last body.
void transfer_begin(struct transfer *transfer, const struct peer_options *options, const char *url);

// Counts the finished transfer; an answer other than 200 is a failure.
void transfer_end(struct transfer *transfer, struct peer_phase *phase, struct peer_record *record, CURLcode code);

// "libcurl/7.88.1 OpenSSL/3.0.20 …", shortened to its first two words.
const char *transfer_client(const char *interface);

#endif
