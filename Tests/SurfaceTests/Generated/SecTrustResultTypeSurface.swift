// The API of SecTrustResultType, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import Testing
import URLLoading

@Suite("The API of SecTrustResultType")
struct SectrustresulttypeSurface {
    @Test("SecTrustResultType: raw values")
    func secTrustResultTypeRawValues() {
        let cases: [(SecTrustResultType, UInt32)] = [
            (SecTrustResultType.invalid, 0), (SecTrustResultType.proceed, 1), (SecTrustResultType.confirm, 2),
            (SecTrustResultType.deny, 3), (SecTrustResultType.unspecified, 4),
            (SecTrustResultType.recoverableTrustFailure, 5), (SecTrustResultType.fatalTrustFailure, 6),
            (SecTrustResultType.otherError, 7),
        ]
        for (one, rawValue) in cases {
            #expect(one.rawValue == rawValue)
            #expect(SecTrustResultType(rawValue: rawValue) == one)
        }
    }
}

/// Names the API of `SecTrustResultType`.
private func secTrustResultTypeMembers() {
    let _: any Sendable.Type = SecTrustResultType.self
}
