// The completion handler of a task, until it is called.

import Foundation
import Synchronization

/// A program's handler, which is let go of when it has been called: it often holds the task that it belongs to.
final class CompletionHandler<Body: Sendable>: Sendable {
    typealias Closure = @Sendable (Body?, URLResponse?, (any Error)?) -> Void

    private let closure: Mutex<Closure?>

    init(_ closure: @escaping Closure) { self.closure = Mutex(closure) }

    /// Calls the handler, the first time.
    func call(_ body: Body?, _ response: URLResponse?, _ error: (any Error)?) {
        let closure = closure.withLock { $0.take() }
        closure?(body, response, error)
    }
}
