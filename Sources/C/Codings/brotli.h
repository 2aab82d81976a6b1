// The few calls of Brotli's decoder that undo `br` (RFC 7932), found in the system's library at run time: neither its headers
// nor the library itself are needed to build, and a program runs where it is not installed. What is found is kept as
// numbers, so that Swift can share it between threads. Nothing here decides anything.
#ifndef URLLOADING_CCODINGS_BROTLI_H
#define URLLOADING_CCODINGS_BROTLI_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

// Where the functions are; 0 for one that was not found.
typedef struct {
    uintptr_t create;
    uintptr_t destroy;
    uintptr_t decode;
    uintptr_t error;
} urlloading_brotli;

// What the library makes of a piece; its own numbers.
enum { urlloading_brotli_failed = 0, urlloading_brotli_complete = 1 };

// The errors from this number down to the next are those of memory.
enum { urlloading_brotli_first_memory_error = -21, urlloading_brotli_last_memory_error = -30 };

// 1 where the library is there with all that is needed of it. It is never unloaded.
static inline int urlloading_brotli_load(const char *path, urlloading_brotli *found) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return 0;
    found->create = (uintptr_t)dlsym(library, "BrotliDecoderCreateInstance");
    found->destroy = (uintptr_t)dlsym(library, "BrotliDecoderDestroyInstance");
    found->decode = (uintptr_t)dlsym(library, "BrotliDecoderDecompressStream");
    found->error = (uintptr_t)dlsym(library, "BrotliDecoderGetErrorCode");
    return found->create != 0 && found->destroy != 0 && found->decode != 0 && found->error != 0;
}

// 0 where there is no memory.
static inline uintptr_t urlloading_brotli_create(urlloading_brotli brotli) {
    void *(*create)(void *, void *, void *);
    *(void **)&create = (void *)brotli.create;
    return (uintptr_t)create(NULL, NULL, NULL);
}

static inline void urlloading_brotli_destroy(urlloading_brotli brotli, uintptr_t decoder) {
    void (*destroy)(void *);
    *(void **)&destroy = (void *)brotli.destroy;
    destroy((void *)decoder);
}

// `input_size` and `output_size` say afterwards how much was left of each.
static inline int urlloading_brotli_decode(
    urlloading_brotli brotli, uintptr_t decoder, const void *input, size_t *input_size, void *output,
    size_t *output_size) {
    int (*decode)(void *, size_t *, const uint8_t **, size_t *, uint8_t **, size_t *);
    *(void **)&decode = (void *)brotli.decode;
    const uint8_t *from = input;
    uint8_t *to = output;
    return decode((void *)decoder, input_size, &from, output_size, &to, NULL);
}

static inline int urlloading_brotli_error(urlloading_brotli brotli, uintptr_t decoder) {
    int (*error)(const void *);
    *(void **)&error = (void *)brotli.error;
    return error((const void *)decoder);
}

#endif
