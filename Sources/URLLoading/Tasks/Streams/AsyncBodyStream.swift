// An asynchronous body as a stream, which is what requests hold, and what classes of the program's read. The loader
// reads its source without a thread; code that reads the stream itself blocks its own thread.

import Dispatch
import Foundation
import Synchronization
import URLLoadingEngine

/// A body that is made while it is read.
final class AsyncBodyStream: MadeBodyStream {
    private let body: URLRequest.AsyncBody
    /// Gives the bytes, once.
    let source: SequenceSource
    private var status = Stream.Status.notOpen
    private var failure: (any Error)?
    /// What has come and was not read yet.
    private var rest: ArraySlice<UInt8> = []

    init(_ body: URLRequest.AsyncBody) {
        self.body = body
        source = SequenceSource(body)
        super.init(data: Data())
    }

    deinit { source.close() }

    override var byteCount: Int64? { body.trailers == nil ? body.contentLength : nil }

    override var trailerNames: [String] { body.trailers?.names ?? [] }

    override var isRenewable: Bool { body.isRenewable }

    override func renewed() -> MadeBodyStream? { isRenewable ? AsyncBodyStream(body) : nil }

    // MARK: A stream like others

    override func open() {
        guard status == .notOpen else { return }
        status = .open
        if !source.claim() { failure = BodyStreamProblem.usedUp }
    }

    override func close() {
        status = .closed
        source.close()
    }

    override var streamStatus: Stream.Status { failure == nil ? status : .error }

    override var streamError: (any Error)? { failure }

    override var hasBytesAvailable: Bool { failure == nil && status == .open }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        guard failure == nil, maxLength > 0, status == .open || status == .atEnd else { return -1 }
        while rest.isEmpty, status == .open { take(awaitPiece()) }
        guard failure == nil else { return -1 }
        let count = min(rest.count, maxLength)
        UnsafeMutableRawBufferPointer(start: buffer, count: count).copyBytes(from: rest.prefix(count))
        rest.removeFirst(count)
        return count
    }

    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length: UnsafeMutablePointer<Int>
    ) -> Bool { false }

    private func awaitPiece() -> SourcePiece {
        let answered = DispatchSemaphore(value: 0)
        let answer = Answer()
        source.next { piece in
            answer.piece.withLock { $0 = piece }
            answered.signal()
        }
        answered.wait()
        return answer.piece.withLock { $0 }
    }

    private func take(_ piece: SourcePiece) {
        switch piece {
        case .bytes(let bytes): rest = bytes[...]
        case .end, .trailers: status = .atEnd
        case .failed(let error): failure = error
        }
    }

    private final class Answer: Sendable {
        let piece = Mutex(SourcePiece.end)
    }
}
