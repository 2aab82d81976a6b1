// Remembers objects weakly, so that a test can say at its end which of them should be gone.

/// Objects that must not outlive a test.
package final class LeakTracker {
    private struct Entry {
        weak var object: AnyObject?
        let name: String
    }

    private var entries: [Entry] = []

    /// Tracks nothing yet.
    package init() {}

    /// Tracks an object under a name; returns the object.
    @discardableResult
    package func track<T: AnyObject>(_ object: T, _ name: String = "\(T.self)") -> T {
        entries.append(Entry(object: object, name: name))
        return object
    }

    /// The names of those that are still alive.
    package var alive: [String] { entries.compactMap { $0.object == nil ? nil : $0.name } }
}
