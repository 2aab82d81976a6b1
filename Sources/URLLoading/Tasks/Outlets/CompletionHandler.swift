// The completion handler of a task, until it is called.

import Foundation
import Synchronization

/// A program's handler, which is let go of when it has been called: it often holds the task that it belongs to.
final class CompletionHandler<Body: Sendable>: Sendable {
    typealias Closure = @Sendable (Body?, URLResponse?, (any Error)?) -> Void

    /// A structure of its own: a bare function behind a generic lock is wrapped twice on its way in and out.
    private struct Held {
        let closure: Closure
    }

    private let held: Mutex<Held?>

    init(_ closure: @escaping Closure) { held = Mutex(Held(closure: closure)) }

    /// Calls the handler, the first time.
    func call(_ body: Body?, _ response: URLResponse?, _ error: (any Error)?) {
        let held = held.withLock { $0.take() }
        held?.closure(body, response, error)
    }
}
