// Files of the project itself: pages that tests look into, and vectors.

import URLLoadingSystem

/// The project's files, by their paths in it.
package enum ProjectFiles {
    /// The folder of the project.
    package static var root: String {
        // …/Tests/Support/ProjectFiles.swift
        #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
    }

    /// The text of a file; nil where it cannot be read.
    package static func text(of path: String) -> String? {
        guard let handle = fopen(root + "/" + path, "r") else { return nil }
        defer { fclose(handle) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = fread(&piece, 1, piece.count, handle)
            if count == 0 { break }
            bytes += piece.prefix(count)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
