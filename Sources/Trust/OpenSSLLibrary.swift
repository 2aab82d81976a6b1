// OpenSSL as a part of this process. By default it frees what it has when the process ends. A program may end while a
// loop is in the midst of a handshake, though, and that would then go on with what has been freed: so it is told to
// leave everything to the system. Only its first use decides that.

import CURLLoadingOpenSSL

/// How OpenSSL lives in this process.
package enum OpenSSLLibrary {
    /// Comes before any function of OpenSSL's that may be the first; costs one look afterwards.
    package static func prepare() { _ = isPrepared }

    private static let isPrepared = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1
}
