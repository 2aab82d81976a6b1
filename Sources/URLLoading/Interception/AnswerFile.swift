// A file that is the body of an answer: how it is read by interceptors, how one is written where they answer a download
// with another body, and when it goes.
//
// Must not know: sessions.

import Foundation
import Synchronization
import URLLoadingEngine
import URLLoadingSystem

/// A file. One that a download has made goes with its last holder, unless the caller gets it.
final class AnswerFile: Sendable {
    let url: URL
    private let isOwned: Atomic<Bool>

    init(_ url: URL, isOwned: Bool) {
        self.url = url
        self.isOwned = Atomic(isOwned)
    }

    deinit {
        if isOwned.load(ordering: .relaxed) { unlink(url.path(percentEncoded: false)) }
    }

    /// Leaves the file to the program, which is told where it is.
    func letGo() -> URL {
        isOwned.store(false, ordering: .relaxed)
        return url
    }

    // MARK: Writing

    /// Writes a body to a file, which is the caller's.
    static func write(_ body: InterceptedBody, in folder: String, of url: URL?) async throws -> URL {
        let naming = FileNaming.downloads
        let file = try await onDisk(.create, url, folder) {
            TemporaryFile.create(in: folder, prefix: naming.prefix, suffix: naming.suffix)
        }
        var pieces = BodyPieces(body)
        while let piece = try await pieces.next(isolation: nil) {
            try await onDisk(.write, url, folder) { Self.result(piece.withUnsafeBytes { file.append($0) }) }
        }
        try await onDisk(.close, url, folder) { Self.result(file.close()) }
        file.letGo()
        return file.url
    }

    private static func result(_ error: SystemError?) -> Result<Void, SystemError> {
        error.map { .failure($0) } ?? .success(())
    }

    private static func onDisk<Value: Sendable>(
        _ step: FileFailure.Step, _ url: URL?, _ folder: String,
        _ work: @escaping @Sendable () -> Result<Value, SystemError>
    ) async throws -> Value {
        switch await BlockingLane.files.value(work) {
        case .success(let value): return value
        case .failure(let error): throw LoadFailure.unwritableFile(url, in: folder, FileFailure(step, error))
        }
    }
}

/// A file, piece by piece.
struct AnswerFilePieces: PieceSupply {
    /// Held, since an owned one goes with it.
    private let file: AnswerFile
    private var opened: OpenFile?
    private var offset: Int64 = 0

    init(_ file: AnswerFile) { self.file = file }

    mutating func next(isolation: isolated (any Actor)?) async throws -> Data? {
        let url = file.url
        guard url.isFileURL else {
            throw LoadFailure.unsupportedURL(url, "The file of an answer is not named by a file URL.")
        }
        let (opened, offset) = (opened, offset)
        let read = await BlockingLane.files.value(isolation: isolation) { () -> Result<(OpenFile, Data), SystemError> in
            switch opened.map({ .success($0) }) ?? OpenFile.open(path: url.path(percentEncoded: false)) {
            case .success(let opened): Self.read(opened, at: offset).map { (opened, $0) }
            case .failure(let error): .failure(error)
            }
        }
        switch read {
        case .success((let opened, let piece)):
            self.opened = opened
            self.offset += Int64(piece.count)
            return piece.isEmpty ? nil : piece
        case .failure(let error): throw ErrorMapping.unreadableFile(url, error)
        }
    }

    /// Nothing at the end.
    private static func read(_ file: OpenFile, at offset: Int64) -> Result<Data, SystemError> {
        var piece = Data(count: pieceSize)
        let outcome = piece.withUnsafeMutableBytes { file.read(at: offset, into: $0) }
        switch outcome {
        case .success(let count): return .success(piece.prefix(count))
        case .failure(.ended): return .success(Data())
        case .failure(.failed(let error)): return .failure(error)
        }
    }

    /// Picked by feel: a system call for so much costs next to nothing per byte.
    private static let pieceSize = 64 * 1024
}

extension BlockingLane {
    /// Waits for work that may block.
    fileprivate func value<Value: Sendable>(
        isolation: isolated (any Actor)? = #isolation, _ work: @escaping @Sendable () -> Value
    ) async -> Value {
        await withUnsafeContinuation(isolation: isolation) { waiter in run { waiter.resume(returning: work()) } }
    }
}
