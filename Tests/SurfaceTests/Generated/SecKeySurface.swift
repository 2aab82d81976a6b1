// The API of SecKey, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Names the API of `SecKey`.
private func secKeyMembers() {
    let _: any (Hashable & Sendable).Type = SecKey.self
}
