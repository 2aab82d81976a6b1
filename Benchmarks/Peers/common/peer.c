// See peer.h.
#define _GNU_SOURCE
#include "peer.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

// Latencies beyond this many overwrite the oldest. The pages are touched only when used.
#define LATENCY_CAPACITY ((size_t)1 << 20)

struct peer_record {
    struct rusage usage;
    uint64_t began;
    uint64_t requests;
    uint64_t bytes;
    uint64_t errors;
    size_t latency_count;
    uint64_t *latencies;
    long base_rss_kib;
};

static _Noreturn void usage(void) {
    fputs("usage: peer get|download|save|upload --url URL [--connections N] [--requests N] [--seconds S]\n"
          "            [--warmup N] [--origins N] [--cacert PATH] [--file PATH] [--gzip] [--http2]\n",
          stderr);
    exit(64);
}

static enum peer_operation operation_named(const char *name) {
    static const char *const names[] = {"get", "download", "save", "upload"};
    for (int i = 0; i < 4; i++) {
        if (strcmp(name, names[i]) == 0) return (enum peer_operation)i;
    }
    usage();
}

static double number(const char *text) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != 0 || value < 0) usage();
    return value;
}

struct peer_options peer_parse(int argc, char **argv) {
    if (argc < 2) usage();
    struct peer_options options = {
        .operation = operation_named(argv[1]), .connections = 1, .origins = 1, .requests = 0};
    for (int i = 2; i < argc; i++) {
        const char *name = argv[i];
        if (strcmp(name, "--gzip") == 0) {
            options.gzip = true;
            continue;
        }
        if (strcmp(name, "--http2") == 0) {
            options.http2 = true;
            continue;
        }
        if (++i == argc) usage();
        const char *value = argv[i];
        if (strcmp(name, "--url") == 0) options.url = value;
        else if (strcmp(name, "--cacert") == 0) options.cacert = value;
        else if (strcmp(name, "--file") == 0) options.file = value;
        else if (strcmp(name, "--connections") == 0) options.connections = (size_t)number(value);
        else if (strcmp(name, "--origins") == 0) options.origins = (size_t)number(value);
        else if (strcmp(name, "--requests") == 0) options.requests = (uint64_t)number(value);
        else if (strcmp(name, "--warmup") == 0) options.warmup = (uint64_t)number(value);
        else if (strcmp(name, "--seconds") == 0) options.seconds = number(value);
        else usage();
    }
    bool needs_file = options.operation == PEER_SAVE || options.operation == PEER_UPLOAD;
    if (options.url == NULL || options.connections == 0 || options.origins == 0) usage();
    if (needs_file && options.file == NULL) usage();
    if (options.requests == 0 && options.seconds == 0) options.requests = 1;
    return options;
}

char *peer_url(const struct peer_options *options, size_t origin) {
    const char *mark = strstr(options->url, "{}");
    char *url = NULL;
    int length = mark == NULL ? asprintf(&url, "%s", options->url)
                              : asprintf(&url, "%.*s%zu%s", (int)(mark - options->url), options->url, origin + 1,
                                         mark + 2);
    if (length < 0) peer_die("out of memory");
    return url;
}

uint64_t peer_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static long resident_kib(void) {
    long total = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL) return 0;
    if (fscanf(file, "%ld %ld", &total, &resident) != 2) resident = 0;
    fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

// A number of /proc/self/status. The peak is taken from there and not from getrusage, whose value begins with the
// size of the process that started this one.
static long status_number(const char *format) {
    char line[256];
    long value = 0;
    FILE *file = fopen("/proc/self/status", "r");
    if (file == NULL) return 0;
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, format, &value) == 1) break;
    }
    fclose(file);
    return value;
}

struct peer_phase peer_warmup_phase(const struct peer_options *options) {
    // Without a warm-up the phase is over before it starts: a quota of 0 would mean no limit.
    struct peer_phase phase = {.quota = options->warmup, .deadline = options->warmup == 0 ? 1 : 0};
    return phase;
}

struct peer_phase peer_measured_phase(const struct peer_options *options, struct peer_record **result) {
    struct peer_record *record = calloc(1, sizeof *record);
    if (record == NULL) peer_die("out of memory");
    record->latencies = calloc(LATENCY_CAPACITY, sizeof *record->latencies);
    if (record->latencies == NULL) peer_die("out of memory");
    malloc_trim(0);
    record->base_rss_kib = resident_kib();
    record->began = peer_now();
    getrusage(RUSAGE_SELF, &record->usage);
    *result = record;
    struct peer_phase phase = {.quota = options->requests};
    if (options->seconds > 0) phase.deadline = record->began + (uint64_t)(options->seconds * 1e9);
    return phase;
}

bool peer_take(struct peer_phase *phase) {
    if (phase->quota != 0 && phase->started == phase->quota) return false;
    if (phase->deadline != 0 && peer_now() >= phase->deadline) return false;
    phase->started++;
    return true;
}

void peer_finished(struct peer_phase *phase, struct peer_record *record, uint64_t since, uint64_t body_bytes) {
    phase->finished++;
    if (record == NULL) return;
    record->requests++;
    record->bytes += body_bytes;
    record->latencies[record->latency_count++ % LATENCY_CAPACITY] = peer_now() - since;
}

void peer_failed(struct peer_phase *phase, struct peer_record *record, const char *why) {
    phase->finished++;
    if (record == NULL) peer_die(why);
    if (record->errors++ == 0) fprintf(stderr, "%s\n", why);
}

static int ascending(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static double seconds_between(struct timeval from, struct timeval to) {
    return (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_usec - from.tv_usec) / 1e6;
}

int peer_print(struct peer_record *record, const char *client) {
    uint64_t ended = peer_now();
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    long threads = status_number("Threads: %ld");
    long peak = status_number("VmHWM: %ld");
    // What the allocator keeps for later is not what the client needs.
    malloc_trim(0);
    long resident = resident_kib();

    size_t count = record->latency_count < LATENCY_CAPACITY ? record->latency_count : LATENCY_CAPACITY;
    qsort(record->latencies, count, sizeof *record->latencies, ascending);
    double p50 = count == 0 ? 0 : (double)record->latencies[count / 2] / 1e3;
    double p99 = count == 0 ? 0 : (double)record->latencies[count - 1 - count / 100] / 1e3;

    printf("{\"client\":\"%s\",\"requests\":%llu,\"bytes\":%llu,\"errors\":%llu,\"wall_s\":%.6f,\"user_s\":%.6f,"
           "\"sys_s\":%.6f,\"p50_us\":%.2f,\"p99_us\":%.2f,\"base_rss_kib\":%ld,\"rss_kib\":%ld,\"max_rss_kib\":%ld,"
           "\"threads\":%ld}\n",
           client, (unsigned long long)record->requests, (unsigned long long)record->bytes,
           (unsigned long long)record->errors, (double)(ended - record->began) / 1e9,
           seconds_between(record->usage.ru_utime, usage.ru_utime),
           seconds_between(record->usage.ru_stime, usage.ru_stime), p50, p99, record->base_rss_kib, resident, peak,
           threads);
    fflush(stdout);
    return record->errors == 0 ? 0 : 1;
}

void peer_unsupported(const char *what) {
    fprintf(stderr, "not supported: %s\n", what);
    exit(69);
}

void peer_die(const char *what) {
    fprintf(stderr, "%s%s%s\n", what, errno != 0 ? ": " : "", errno != 0 ? strerror(errno) : "");
    exit(1);
}

void peer_raise_descriptor_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}
