import Testing
import URLLoadingTLS
import URLLoadingTrust

@Suite struct DescriptionTests {
    @Test(
        "Every TLS error says in one sentence what happened",
        arguments: [
            (TLSError.handshakeFailed(reason: "bad length", alert: 50), "bad length (alert 50 sent)"),
            (.handshakeFailed(reason: "bad length", alert: nil), "failed: bad length."),
            (.alertReceived(code: 80, name: "internal error"), "\"internal error\" (80)"),
            (.untrusted(TrustFailure(.selfSigned, certificate: "a.test")), "\"a.test\" is self-signed"),
            (.noCommonVersionOrCipher, "No TLS version"), (.notTLS, "not TLS"),
            (.versionsContradict, "minimum TLS version is above"), (.closedDuringHandshake, "during the TLS handshake"),
            (.alpnMismatch("h2"), "\"h2\""), (.alpnMismatch(""), "was not offered"), (.truncated, "may be missing"),
            (.clientCertificateRequired, "requires a client certificate"),
            (.clientCertificateRejected, "did not accept"),
            (.clientCertificateUnusable(name: "me", reason: "ee key too small"), "\"me\" cannot be used: ee key"),
            (.renegotiationRefused, "renegotiation"),
            (.protocolViolation(reason: "bad record", alert: 20), "bad record (alert 20 sent)"),
            (.internalFailure("no memory"), "no memory"),
        ])
    func tlsErrors(_ error: TLSError, _ part: String) {
        #expect(error.description.contains(part))
        #expect(error.description.hasSuffix("."))
    }

    @Test("Versions have their usual names and order")
    func versions() {
        let all: [TLSVersion] = [.v10, .v11, .v12, .v13]
        #expect(all.map(\.description) == ["TLS 1.0", "TLS 1.1", "TLS 1.2", "TLS 1.3"])
        #expect(all == all.sorted())
    }
}
