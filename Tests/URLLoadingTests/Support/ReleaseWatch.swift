// Whether a session, its task and its delegate have gone.

import Foundation
import URLLoading

/// Weak references to a session and what belongs to it, to be looked at later.
final class ReleaseWatch: @unchecked Sendable {
    // Written before it is shared, and weak references may be read from any thread.
    weak var session: URLSession?
    weak var task: URLSessionTask?
    weak var delegate: AnyObject?

    var isEmpty: Bool { session == nil && task == nil && delegate == nil }
}
