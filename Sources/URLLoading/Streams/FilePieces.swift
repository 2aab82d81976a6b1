// What a file, a pipe or a terminal holds, piece by piece, read on a queue that may block.

import Dispatch
import Foundation

/// Reads a descriptor as far as there is something to read.
@usableFromInline
struct FilePieces: PieceSupply {
    private let handle: FileHandle
    // Of its own: a terminal may block it for ever.
    private let queue = DispatchQueue(label: "URLLoading.file-bytes")

    init(_ handle: FileHandle) {
        self.handle = handle
    }

    @usableFromInline
    mutating func next(isolation: isolated (any Actor)?) async throws -> Data? {
        try Task.checkCancellation()
        return try await withUnsafeThrowingContinuation(isolation: isolation) { continuation in
            queue.async { [handle] in
                continuation.resume(with: Result { try Self.read(handle) })
            }
        }
    }

    /// What can be had at once, at least one byte; `nil` at the end.
    private static func read(_ handle: FileHandle) throws -> Data? {
        var piece = Data(count: pieceSize)
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

    /// Picked by feel: a system call for so much costs next to nothing per byte.
    private static let pieceSize = 64 * 1024
}
