// The API of SecTrust, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Names the API of `SecTrust`.
private func secTrustMembers() {
    let _: any (Hashable & Sendable).Type = SecTrust.self
}
