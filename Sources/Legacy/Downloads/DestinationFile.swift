// The file that a download writes: made under a name that is free, or in place of what is there. It belongs to the
// program's user like any file of a program, and is readable to the users that the umask allows.
//
// Every call may wait for the disk. Must not know: what is written.

import Foundation
import Synchronization

/// A file that is written from a place on to its end.
final class DestinationFile: Sendable {
    /// Where it is.
    let path: String
    private let state: Mutex<State>

    private struct State: Sendable {
        /// Nil once the file is closed.
        var handle: FileHandle?
        /// How far the file has come.
        var length: Int64
    }

    private init(path: String, handle: FileHandle, length: Int64) {
        self.path = path
        state = Mutex(State(handle: handle, length: length))
    }

    /// Makes an empty file at `path`; where one is that must not be overwritten, beside it.
    static func create(_ path: String, allowsOverwrite: Bool) throws -> DestinationFile {
        if allowsOverwrite {
            try Data().write(to: URL(fileURLWithPath: path))
            return try open(path, keeping: 0)
        }
        for number in 0...mostNumbers {
            let name = number == 0 ? path : numbered(path, number)
            do {
                try Data().write(to: URL(fileURLWithPath: name), options: .withoutOverwriting)
                return try open(name, keeping: 0)
            } catch let error as CocoaError where error.code == .fileWriteFileExists {
                continue
            }
        }
        throw CocoaError(.fileWriteFileExists, userInfo: [NSFilePathErrorKey: path])
    }

    /// Opens a file to go on behind its first `length` bytes.
    static func open(_ path: String, keeping length: Int64) throws -> DestinationFile {
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path)).aboveStandard
        // Leaves the offset at the end.
        try handle.truncate(atOffset: UInt64(length))
        return DestinationFile(path: path, handle: handle, length: length)
    }

    /// How many bytes a file has; nil where there is none.
    static func length(of path: String) -> Int64? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.int64Value
    }

    /// Writes a piece behind what is there; nothing once the file is closed.
    func append(_ piece: Data) throws {
        try state.withLock { state in
            guard let handle = state.handle else { return }
            try handle.write(contentsOf: piece)
            state.length += Int64(piece.count)
        }
    }

    /// How far the file has come.
    var length: Int64 { state.withLock { $0.length } }

    /// Ends the writing.
    func close() throws {
        try state.withLock { state in
            defer { state.handle = nil }
            try state.handle?.close()
        }
    }

    /// Ends the writing and removes the file.
    func remove() {
        try? close()
        try? FileManager.default.removeItem(atPath: path)
    }

    /// "a.txt" becomes "a-1.txt", and "a.tar.gz" "a-1.tar.gz".
    static func numbered(_ path: String, _ number: Int) -> String {
        let slash = path.lastIndex(of: "/")
        let start = slash.map { path.index(after: $0) } ?? path.startIndex
        let name = path[start...]
        // A dot in front makes a hidden file, not an ending.
        guard var dot = name.lastIndex(of: "."), dot != start else { return "\(path)-\(number)" }
        if name[..<dot].hasSuffix(".tar") { dot = name.index(dot, offsetBy: -4) }
        return "\(path[..<dot])-\(number)\(path[dot...])"
    }

    /// So many files of one name are a mistake.
    private static let mostNumbers = 9999
}

extension FileHandle {
    /// A handle of the same file whose number is that of no standard descriptor, where there is a number for one. A
    /// program may have closed its own, and what it prints would go into the file.
    fileprivate var aboveStandard: FileHandle {
        guard fileDescriptor <= STDERR_FILENO else { return self }
        let moved = fcntl(fileDescriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
        return moved < 0 ? self : FileHandle(fileDescriptor: moved, closeOnDealloc: true)
    }
}
