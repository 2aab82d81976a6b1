// Owns one reference to one of OpenSSL's counted objects and gives it back exactly once. Does not know what the object
// is used for.

import CURLLoadingOpenSSL

/// One reference to an OpenSSL object whose count is atomic, such as `X509`, `EVP_PKEY`, `SSL_CTX` or `SSL_SESSION`.
///
/// Unchecked because `OpaquePointer` is not `Sendable`: the pointer never changes, OpenSSL counts and locks these
/// objects itself, and nothing here changes one after it was shared.
package final class OpenSSLObject: @unchecked Sendable {
    /// The object, valid for as long as this owner lives.
    package let pointer: OpaquePointer
    private let release: @Sendable (OpaquePointer) -> Void

    private init(_ pointer: OpaquePointer, release: @escaping @Sendable (OpaquePointer) -> Void) {
        self.pointer = pointer
        self.release = release
    }

    deinit {
        release(pointer)
    }

    /// Takes over the caller's reference to an `X509`.
    package static func certificate(owning pointer: OpaquePointer) -> OpenSSLObject {
        OpenSSLObject(pointer) { X509_free($0) }
    }

    /// Takes over the caller's reference to an `X509_CRL`.
    package static func revocationList(owning pointer: OpaquePointer) -> OpenSSLObject {
        OpenSSLObject(pointer) { X509_CRL_free($0) }
    }

    /// Takes over the caller's reference to an `EVP_PKEY`.
    package static func key(owning pointer: OpaquePointer) -> OpenSSLObject {
        OpenSSLObject(pointer) { EVP_PKEY_free($0) }
    }

    /// Takes over the caller's reference to an `SSL_CTX`.
    package static func tlsContext(owning pointer: OpaquePointer) -> OpenSSLObject {
        OpenSSLObject(pointer) { SSL_CTX_free($0) }
    }

    /// Takes over the caller's reference to an `SSL_SESSION`.
    package static func tlsTicket(owning pointer: OpaquePointer) -> OpenSSLObject {
        OpenSSLObject(pointer) { SSL_SESSION_free($0) }
    }
}
