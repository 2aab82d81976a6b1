// Directories for sessions that need one and were not told which. They lie in one of this process, which goes when the
// driver ends.

import Foundation

/// Directories that one session has for itself.
enum Scratch {
    private static let home = FileManager.default.temporaryDirectory
        .appending(path: "conformance-driver-\(getpid())-\(UUID().uuidString)", directoryHint: .isDirectory)

    /// A place for a new directory, which is made when something is first written there.
    static func place() -> URL { home.appending(path: UUID().uuidString, directoryHint: .isDirectory) }

    /// Removes them all.
    static func removeAll() { try? FileManager.default.removeItem(at: home) }
}
