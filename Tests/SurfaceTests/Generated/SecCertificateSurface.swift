// The API of SecCertificate, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Names the API of `SecCertificate`.
private func secCertificateMembers() {
    let _: any (Hashable & Sendable).Type = SecCertificate.self
}
