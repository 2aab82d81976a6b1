// What a file, a pipe or a terminal holds, piece by piece, read on a queue that may block.

import Dispatch
import Foundation

/// Reads a descriptor as far as there is something to read.
@usableFromInline
struct FilePieces: PieceSupply {
    private let reader: DescriptorReader

    init(_ handle: FileHandle) {
        reader = DescriptorReader(.open(handle))
    }

    /// The file at a URL, which is opened when it is first read: that may wait as reading may, for the writer of a pipe
    /// or a disk that does not answer.
    init(_ url: URL) {
        reader = DescriptorReader(.unopened(url))
    }

    @usableFromInline
    mutating func next(isolation: isolated (any Actor)?) async throws -> Data? {
        try Task.checkCancellation()
        return try await reader.read()
    }
}

/// Reads on a thread of its own, since a terminal may block it for ever.
private actor DescriptorReader {
    enum Source: Sendable {
        case unopened(URL)
        case open(FileHandle)
    }

    private var source: Source
    private let executor = BlockingExecutor()

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ source: Source) {
        self.source = source
    }

    /// What can be had at once, at least one byte; `nil` at the end.
    func read() throws -> Data? {
        let handle = try opened()
        var piece = Data(count: Self.pieceSize)
        while true {
            let count = piece.withUnsafeMutableBytes { buffer in
                buffer.baseAddress.map { Foundation.read(handle.fileDescriptor, $0, buffer.count) } ?? 0
            }
            switch count {
            case 0: return nil
            case 1...: return piece.prefix(count)
            default:
                let code = errno
                guard code == EINTR else {
                    throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
                }
            }
        }
    }

    private func opened() throws -> FileHandle {
        switch source {
        case .open(let handle): return handle
        case .unopened(let url):
            let handle = try FileHandle(forReadingFrom: url)
            source = .open(handle)
            return handle
        }
    }

    /// Picked by feel: a system call for so much costs next to nothing per byte.
    private static let pieceSize = 64 * 1024
}

/// Runs an actor's work on a serial queue that none but it uses.
private final class BlockingExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "URLLoading.file-bytes")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
