// The few calls of GSSAPI version 2 (RFC 2744) that a client of Negotiate makes, found in the system's library at run
// time: neither its headers nor the library itself are needed to build, and a program runs where it is not installed.
// A library is a handle of dlopen, as a number, so that Swift can share it between threads. Nothing here decides anything.
#ifndef URLLOADING_CGSSAPI_SHIM_H
#define URLLOADING_CGSSAPI_SHIM_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    size_t length;
    void *value;
} urlloading_gss_buffer;

typedef struct {
    uint32_t length;
    void *elements;
} urlloading_gss_oid;

// What is answered where the library lacks a function: GSS_S_UNAVAILABLE.
static const uint32_t urlloading_gss_unavailable = 16u << 16;

static inline uintptr_t urlloading_gss_open(const char *path) {
    return (uintptr_t)dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

// Why the last call of this thread failed.
static inline const char *urlloading_gss_open_error(void) { return dlerror(); }

static inline void *urlloading_gss_symbol(uintptr_t library, const char *name) {
    return dlsym((void *)library, name);
}

static inline uint32_t urlloading_gss_import_service(
    uintptr_t library, uint32_t *minor, const char *service, uintptr_t *name) {
    // GSS_C_NT_HOSTBASED_SERVICE, 1.2.840.113554.1.2.1.4.
    urlloading_gss_oid kind = {10, (void *)"\x2a\x86\x48\x86\xf7\x12\x01\x02\x01\x04"};
    urlloading_gss_buffer text = {strlen(service), (void *)service};
    uint32_t (*import)(uint32_t *, urlloading_gss_buffer *, urlloading_gss_oid *, void **);
    *(void **)&import = urlloading_gss_symbol(library, "gss_import_name");
    if (import == NULL) return urlloading_gss_unavailable;
    void *made = NULL;
    uint32_t major = import(minor, &text, &kind, &made);
    *name = (uintptr_t)made;
    return major;
}

// One round under SPNEGO (1.3.6.1.5.5.2), with the default credentials, without delegating them.
static inline uint32_t urlloading_gss_init_context(
    uintptr_t library, uint32_t *minor, uintptr_t *context, uintptr_t name, const void *input, size_t input_length,
    urlloading_gss_buffer *output) {
    urlloading_gss_oid mechanism = {6, (void *)"\x2b\x06\x01\x05\x05\x02"};
    urlloading_gss_buffer token = {input_length, (void *)input};
    uint32_t (*init)(
        uint32_t *, void *, void **, void *, urlloading_gss_oid *, uint32_t, uint32_t, void *, urlloading_gss_buffer *,
        urlloading_gss_oid **, urlloading_gss_buffer *, uint32_t *, uint32_t *);
    *(void **)&init = urlloading_gss_symbol(library, "gss_init_sec_context");
    if (init == NULL) return urlloading_gss_unavailable;
    void *state = (void *)*context;
    uint32_t major = init(
        minor, NULL, &state, (void *)name, &mechanism, 0, 0, NULL, input_length == 0 ? NULL : &token, NULL, output, NULL,
        NULL);
    *context = (uintptr_t)state;
    return major;
}

// One line about a status; a kind of 1 is for the major one, 2 for the mechanism's own. `more` is 0 after the last line.
static inline uint32_t urlloading_gss_display(
    uintptr_t library, uint32_t status, int kind, uint32_t *more, urlloading_gss_buffer *text) {
    uint32_t minor = 0;
    uint32_t (*display)(uint32_t *, uint32_t, int, urlloading_gss_oid *, uint32_t *, urlloading_gss_buffer *);
    *(void **)&display = urlloading_gss_symbol(library, "gss_display_status");
    if (display == NULL) return urlloading_gss_unavailable;
    return display(&minor, status, kind, NULL, more, text);
}

static inline void urlloading_gss_release_buffer(uintptr_t library, urlloading_gss_buffer *buffer) {
    uint32_t minor = 0;
    uint32_t (*release)(uint32_t *, urlloading_gss_buffer *);
    *(void **)&release = urlloading_gss_symbol(library, "gss_release_buffer");
    if (release != NULL) release(&minor, buffer);
}

static inline void urlloading_gss_release_name(uintptr_t library, uintptr_t name) {
    uint32_t minor = 0;
    void *made = (void *)name;
    uint32_t (*release)(uint32_t *, void **);
    *(void **)&release = urlloading_gss_symbol(library, "gss_release_name");
    if (release != NULL && made != NULL) release(&minor, &made);
}

static inline void urlloading_gss_delete_context(uintptr_t library, uintptr_t context) {
    uint32_t minor = 0;
    void *state = (void *)context;
    uint32_t (*delete_context)(uint32_t *, void **, urlloading_gss_buffer *);
    *(void **)&delete_context = urlloading_gss_symbol(library, "gss_delete_sec_context");
    if (delete_context != NULL && state != NULL) delete_context(&minor, &state, NULL);
}

#endif
