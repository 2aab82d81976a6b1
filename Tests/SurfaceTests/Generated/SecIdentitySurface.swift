// The API of SecIdentity, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Names the API of `SecIdentity`.
private func secIdentityMembers() {
    let _: any (Hashable & Sendable).Type = SecIdentity.self
}
