// Lines that a test of the engine writes down in handlers.

/// What was told, in order.
final class Notes: Sendable {
    nonisolated(unsafe) private(set) var all: [String] = []  // All on the test's thread.

    func note(_ line: String) { all.append(line) }
}
