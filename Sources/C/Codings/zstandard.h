// The few calls of Zstandard's decoder that undo `zstd` (RFC 8878), found in the system's library at run time: neither its
// headers nor the library itself are needed to build, and a program runs where it is not installed. What is found is
// kept as numbers, so that Swift can share it between threads. Nothing here decides anything.
#ifndef URLLOADING_CCODINGS_ZSTANDARD_H
#define URLLOADING_CCODINGS_ZSTANDARD_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

// Where the functions are; 0 for one that was not found.
typedef struct {
    uintptr_t create;
    uintptr_t destroy;
    uintptr_t set;
    uintptr_t decode;
    uintptr_t is_error;
    uintptr_t error;
} urlloading_zstandard;

// The library's numbers for what can be wrong, as far as they are told apart.
enum {
    urlloading_zstandard_window_too_large = 16,
    urlloading_zstandard_checksum_wrong = 22,
    urlloading_zstandard_dictionary_wrong = 32,
    urlloading_zstandard_no_memory = 64,
};

// 1 where the library is there with all that is needed of it. It is never unloaded.
static inline int urlloading_zstandard_load(const char *path, urlloading_zstandard *found) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return 0;
    found->create = (uintptr_t)dlsym(library, "ZSTD_createDCtx");
    found->destroy = (uintptr_t)dlsym(library, "ZSTD_freeDCtx");
    found->set = (uintptr_t)dlsym(library, "ZSTD_DCtx_setParameter");
    found->decode = (uintptr_t)dlsym(library, "ZSTD_decompressStream");
    found->is_error = (uintptr_t)dlsym(library, "ZSTD_isError");
    found->error = (uintptr_t)dlsym(library, "ZSTD_getErrorCode");
    return found->create != 0 && found->destroy != 0 && found->set != 0 && found->decode != 0 && found->is_error != 0
        && found->error != 0;
}

static inline void urlloading_zstandard_destroy(urlloading_zstandard zstandard, uintptr_t decoder) {
    size_t (*destroy)(void *);
    *(void **)&destroy = (void *)zstandard.destroy;
    destroy((void *)decoder);
}

// The number of what is wrong; 0 where `result` is no error.
static inline int urlloading_zstandard_error(urlloading_zstandard zstandard, size_t result) {
    unsigned (*is_error)(size_t);
    int (*error)(size_t);
    *(void **)&is_error = (void *)zstandard.is_error;
    *(void **)&error = (void *)zstandard.error;
    return is_error(result) ? error(result) : 0;
}

// A decoder that takes windows of two to the power of `window_log` bytes at most; 0 where there is no memory, or the library
// knows no such limit.
static inline uintptr_t urlloading_zstandard_create(urlloading_zstandard zstandard, int window_log) {
    void *(*create)(void);
    size_t (*set)(void *, int, int);
    *(void **)&create = (void *)zstandard.create;
    *(void **)&set = (void *)zstandard.set;
    void *decoder = create();
    if (decoder == NULL) return 0;
    // ZSTD_d_windowLogMax.
    if (urlloading_zstandard_error(zstandard, set(decoder, 100, window_log)) == 0) return (uintptr_t)decoder;
    urlloading_zstandard_destroy(zstandard, (uintptr_t)decoder);
    return 0;
}

// Adds to `input_used` and `output_used` what was read and written. 0 at the end of a frame.
static inline size_t urlloading_zstandard_decode(
    urlloading_zstandard zstandard, uintptr_t decoder, const void *input, size_t input_size, size_t *input_used,
    void *output, size_t output_size, size_t *output_used) {
    struct {
        const void *bytes;
        size_t size, position;
    } from = {input, input_size, *input_used};
    struct {
        void *bytes;
        size_t size, position;
    } to = {output, output_size, *output_used};
    size_t (*decode)(void *, void *, void *);
    *(void **)&decode = (void *)zstandard.decode;
    size_t result = decode((void *)decoder, &to, &from);
    *input_used = from.position;
    *output_used = to.position;
    return result;
}

#endif
