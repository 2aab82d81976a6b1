// zlib as Swift sees it: the initialisers are macros, so each has an inline function here.
#ifndef URLLOADING_CZLIB_SHIM_H
#define URLLOADING_CZLIB_SHIM_H

#include <zlib.h>

static inline int urlloading_inflateInit2(z_stream *stream, int window_bits) {
    return inflateInit2(stream, window_bits);
}

static inline int urlloading_deflateInit2(z_stream *stream, int level, int window_bits) {
    return deflateInit2(stream, level, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
}

#endif
