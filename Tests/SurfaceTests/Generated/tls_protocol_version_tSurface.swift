// The API of tls_protocol_version_t, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import Testing
import URLLoading

@Suite("The API of tls_protocol_version_t")
struct Tls_protocol_version_tSurface {
    @Test("tls_protocol_version_t: raw values")
    func tls_protocol_version_tRawValues() {
        let cases: [(tls_protocol_version_t, UInt16)] = [
            (tls_protocol_version_t.TLSv10, 0x0301), (tls_protocol_version_t.TLSv11, 0x0302),
            (tls_protocol_version_t.TLSv12, 0x0303), (tls_protocol_version_t.TLSv13, 0x0304),
            (tls_protocol_version_t.DTLSv10, 0xfeff), (tls_protocol_version_t.DTLSv12, 0xfefd),
        ]
        for (one, rawValue) in cases {
            #expect(one.rawValue == rawValue)
            #expect(tls_protocol_version_t(rawValue: rawValue) == one)
        }
    }
}

/// Names the API of `tls_protocol_version_t`.
private func tls_protocol_version_tMembers() {
    let _: any Sendable.Type = tls_protocol_version_t.self
}
