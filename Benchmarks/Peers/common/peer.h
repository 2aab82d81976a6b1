// What every C peer shares: the command line, the clocks, the record of latencies and the one line of JSON.
// Knows nothing of HTTP. The command line is described in ../README.md.
#ifndef PEER_H
#define PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum peer_operation { PEER_GET, PEER_DOWNLOAD, PEER_SAVE, PEER_UPLOAD };

struct peer_options {
    enum peer_operation operation;
    const char *url;     // "{}" in it stands for the number of the origin
    const char *cacert;  // PEM file or hashed directory; NULL: the library's own idea
    const char *file;    // written by save, read by upload
    size_t connections;
    size_t origins;
    uint64_t requests;  // 0: until the seconds are over
    uint64_t warmup;
    double seconds;
    bool gzip;
    bool http2;
};

// One phase of requests: the warm-up, then the measured one.
struct peer_phase {
    uint64_t started;
    uint64_t finished;
    uint64_t quota;     // 0: no limit but the deadline
    uint64_t deadline;  // in the terms of peer_now, 0: none
};

struct peer_record;

// Exits with 64 and a usage line where the command line is not understood.
struct peer_options peer_parse(int argc, char **argv);

// The URL of an origin, numbered from 0; the caller frees it.
char *peer_url(const struct peer_options *options, size_t origin);

// Nanoseconds of the monotonic clock.
uint64_t peer_now(void);

struct peer_phase peer_warmup_phase(const struct peer_options *options);

// Starts the clocks: what was done until now is not counted.
struct peer_phase peer_measured_phase(const struct peer_options *options, struct peer_record **record);

// Takes one request out of the phase; false when there are no more.
bool peer_take(struct peer_phase *phase);

void peer_finished(struct peer_phase *phase, struct peer_record *record, uint64_t since, uint64_t body_bytes);
void peer_failed(struct peer_phase *phase, struct peer_record *record, const char *why);

// Stops the clocks, prints the line, and gives the exit status: 1 where a request failed.
int peer_print(struct peer_record *record, const char *client);

// For what this client cannot do: exits with 69, which the harness shows as a gap.
_Noreturn void peer_unsupported(const char *what);
_Noreturn void peer_die(const char *what);

// As many descriptors as the system allows.
void peer_raise_descriptor_limit(void);

#endif
