// What a server writes down of its clients on its loop, read and awaited by tests. Must not know what that is.

/// What can be written down: nothing at first.
package protocol RecordContents: Sendable {
    /// Nothing.
    init()
}

/// A record of what came.
package final class ServerRecord<Contents: RecordContents>: Sendable {
    private let figures = ObservedValue(Contents())

    /// An empty record.
    package init() {}

    /// What has been written down until now.
    package var contents: Contents { figures.current }

    /// Waits until it fulfils a condition; nil where the waiting task is cancelled before.
    @discardableResult
    package func wait(until condition: @escaping @Sendable (Contents) -> Bool) async -> Contents? {
        await figures.wait(until: condition)
    }

    func write(_ change: (inout Contents) -> Void) { figures.update(change) }
}
