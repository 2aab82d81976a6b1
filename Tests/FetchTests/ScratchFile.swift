// A file with a text that a run of fetch is given.

import Foundation

/// A file that is removed with its owner.
final class ScratchFile: Sendable {
    let path = NSTemporaryDirectory() + "fetch-\(UUID().uuidString)"

    init(_ text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}
