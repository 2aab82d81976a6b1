// Preloaded into FoundationNetworking's client, which has no way to be told of other anchors than those that its
// libcurl was built with: where that file is opened, the one of SSL_CERT_FILE is opened in its place.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef FILE *open_function(const char *, const char *);

static FILE *open_other(const char *name, const char *path, const char *mode) {
    const char *anchors = getenv("SSL_CERT_FILE");
    if (anchors != NULL && strcmp(path, "/etc/ssl/certs/ca-certificates.crt") == 0) path = anchors;
    open_function *next = (open_function *)dlsym(RTLD_NEXT, name);
    return next == NULL ? NULL : next(path, mode);
}

FILE *fopen(const char *path, const char *mode) {
    return open_other("fopen", path, mode);
}

FILE *fopen64(const char *path, const char *mode) {
    return open_other("fopen64", path, mode);
}
