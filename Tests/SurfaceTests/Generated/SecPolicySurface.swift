// The API of SecPolicy, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Names the API of `SecPolicy`.
private func secPolicyMembers() {
    let _: any (Hashable & Sendable).Type = SecPolicy.self
}
