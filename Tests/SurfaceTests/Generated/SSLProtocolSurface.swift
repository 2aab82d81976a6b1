// The API of SSLProtocol, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import Testing
import URLLoading

@Suite("The API of SSLProtocol")
struct SslprotocolSurface {
    @Test("SSLProtocol: raw values")
    func sslProtocolRawValues() {
        let cases: [(SSLProtocol, Int32)] = [
            (SSLProtocol.sslProtocolUnknown, 0), (SSLProtocol.tlsProtocol1, 4), (SSLProtocol.tlsProtocol11, 7),
            (SSLProtocol.tlsProtocol12, 8), (SSLProtocol.dtlsProtocol1, 9), (SSLProtocol.tlsProtocol13, 10),
            (SSLProtocol.dtlsProtocol12, 11), (SSLProtocol.tlsProtocolMaxSupported, 999), (SSLProtocol.sslProtocol2, 1),
            (SSLProtocol.sslProtocol3, 2), (SSLProtocol.sslProtocol3Only, 3), (SSLProtocol.tlsProtocol1Only, 5),
            (SSLProtocol.sslProtocolAll, 6),
        ]
        for (one, rawValue) in cases {
            #expect(one.rawValue == rawValue)
            #expect(SSLProtocol(rawValue: rawValue) == one)
        }
    }
}

/// Names the API of `SSLProtocol`.
private func sslProtocolMembers() {
    let _: any Sendable.Type = SSLProtocol.self
}
