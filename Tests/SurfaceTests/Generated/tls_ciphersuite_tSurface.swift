// The API of tls_ciphersuite_t, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import Testing
import URLLoading

@Suite("The API of tls_ciphersuite_t")
struct Tls_ciphersuite_tSurface {
    @Test("tls_ciphersuite_t: raw values")
    func tls_ciphersuite_tRawValues() {
        let cases: [(tls_ciphersuite_t, UInt16)] = [
            (tls_ciphersuite_t.RSA_WITH_3DES_EDE_CBC_SHA, 10), (tls_ciphersuite_t.RSA_WITH_AES_128_CBC_SHA, 47),
            (tls_ciphersuite_t.RSA_WITH_AES_256_CBC_SHA, 53), (tls_ciphersuite_t.RSA_WITH_AES_128_CBC_SHA256, 60),
            (tls_ciphersuite_t.RSA_WITH_AES_256_CBC_SHA256, 61), (tls_ciphersuite_t.RSA_WITH_AES_128_GCM_SHA256, 156),
            (tls_ciphersuite_t.RSA_WITH_AES_256_GCM_SHA384, 157), (tls_ciphersuite_t.AES_128_GCM_SHA256, 4865),
            (tls_ciphersuite_t.AES_256_GCM_SHA384, 4866), (tls_ciphersuite_t.CHACHA20_POLY1305_SHA256, 4867),
            (tls_ciphersuite_t.ECDHE_ECDSA_WITH_3DES_EDE_CBC_SHA, 49160),
            (tls_ciphersuite_t.ECDHE_ECDSA_WITH_AES_128_CBC_SHA, 49161),
            (tls_ciphersuite_t.ECDHE_ECDSA_WITH_AES_256_CBC_SHA, 49162),
            (tls_ciphersuite_t.ECDHE_ECDSA_WITH_AES_128_CBC_SHA256, 49187),
            (tls_ciphersuite_t.ECDHE_ECDSA_WITH_AES_256_CBC_SHA384, 49188),
            (tls_ciphersuite_t.ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, 49195),
            (tls_ciphersuite_t.ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, 49196),
            (tls_ciphersuite_t.ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, 52393),
            (tls_ciphersuite_t.ECDHE_RSA_WITH_3DES_EDE_CBC_SHA, 49170),
            (tls_ciphersuite_t.ECDHE_RSA_WITH_AES_128_CBC_SHA, 49171),
            (tls_ciphersuite_t.ECDHE_RSA_WITH_AES_256_CBC_SHA, 49172),
            (tls_ciphersuite_t.ECDHE_RSA_WITH_AES_128_CBC_SHA256, 49191),
            (tls_ciphersuite_t.ECDHE_RSA_WITH_AES_256_CBC_SHA384, 49192),
            (tls_ciphersuite_t.ECDHE_RSA_WITH_AES_128_GCM_SHA256, 49199),
            (tls_ciphersuite_t.ECDHE_RSA_WITH_AES_256_GCM_SHA384, 49200),
            (tls_ciphersuite_t.ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256, 52392),
        ]
        for (one, rawValue) in cases {
            #expect(one.rawValue == rawValue)
            #expect(tls_ciphersuite_t(rawValue: rawValue) == one)
        }
    }
}

/// Names the API of `tls_ciphersuite_t`.
private func tls_ciphersuite_tMembers() {
    let _: any Sendable.Type = tls_ciphersuite_t.self
}
