// The file of an upload, so that it is known again: what was sent of it is worth something only while it is the same
// (B11.29).

import Foundation
import URLLoadingSystem

/// Names a file as it was when its upload began.
final class UploadedFile: Sendable, Codable {
    let path: String
    let byteCount: Int64
    /// In nanoseconds since 1970.
    let modified: Int64

    /// Why it cannot be sent.
    enum Problem: Error {
        case unreadable(SystemError)
        case changed
    }

    /// Notes what an open file is; nil where the system does not say when it was written to.
    init?(_ file: OpenFile, path: String) {
        guard let modified = file.modificationTime else { return nil }
        self.path = path
        byteCount = file.byteCount
        self.modified = modified
    }

    /// Whether a file that was opened as this one has been written to since, at its old length. One that has grown is
    /// read as far as it went, and one that has shrunk fails where it ends (B11.7).
    func isRewritten(_ file: OpenFile) -> Bool {
        file.currentByteCount == byteCount && file.modificationTime != modified
    }

    /// Opens the file, if it is the same still.
    func open() -> Result<OpenFile, Problem> {
        switch OpenFile.open(path: path) {
        case .failure(let error): .failure(.unreadable(error))
        case .success(let file):
            file.byteCount == byteCount && file.modificationTime == modified ? .success(file) : .failure(.changed)
        }
    }
}
