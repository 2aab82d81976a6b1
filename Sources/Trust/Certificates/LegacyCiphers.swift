// Parts of PKCS #12 files that are encrypted with RC2, as older tools of Apple, Microsoft and Java do. OpenSSL
// 3 has it in its legacy provider only: that is loaded for one part, into a library context of its own, and
// never into the program's.

import CURLLoadingOpenSSL

/// What OpenSSL's legacy provider decrypts.
enum LegacyCiphers {
    /// Whether what is encrypted in this way needs the provider.
    static func areNeeded(for encryption: UnsafePointer<X509_ALGOR>) -> Bool {
        var name: OpaquePointer?
        X509_ALGOR_get0(&name, nil, nil, encryption)
        return [NID_pbe_WithSHA1And40BitRC2_CBC, NID_pbe_WithSHA1And128BitRC2_CBC].contains(OBJ_obj2nid(name))
    }

    /// Opens a part whose rounds were taken from a budget before; nil when it is broken.
    static func open(
        _ part: UnsafeMutablePointer<PKCS7>, _ passphrase: Passphrase
    ) throws(CertificateError) -> OpaquePointer? {
        guard let context = OSSL_LIB_CTX_new() else { return nil }
        defer { OSSL_LIB_CTX_free(context) }
        // Loading it by name switches off that the usual one loads itself.
        guard let usual = OSSL_PROVIDER_load(context, "default") else { return nil }
        defer { OSSL_PROVIDER_unload(usual) }
        guard let legacy = OSSL_PROVIDER_load(context, "legacy") else {
            throw .notPKCS12(
                "it is encrypted with RC2, for which OpenSSL's legacy provider is not installed here; where it is, "
                    + "\"openssl pkcs12 -legacy\" reads the file, and \"openssl pkcs12 -export\" writes it anew")
        }
        defer { OSSL_PROVIDER_unload(legacy) }
        return passphrase.with { shim_p7_open(part, $0, $1, context) }
    }
}
