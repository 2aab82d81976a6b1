// Reads a body stream piece by piece, on threads that may block for as long as the stream's other end likes. A pair of
// bound streams says when there is something, and an asynchronous body has a source of its own: no thread waits for
// these, however many wait to be fed.
//
// They are not the threads of `BlockingPool.shared`: a few streams that never get their bytes must not keep names from
// being looked up. A read that blocks for ever costs its thread, and the task ends by its time-outs.
//
// Must not know: tasks, how content is framed or sent.

import Foundation
import Synchronization
import URLLoadingEngine
import URLLoadingSystem

/// A stream that the loader opens, reads once and closes (B5.35).
final class InputStreamSource: BodySource {
    /// Holds the stream: what a request holds may go to another thread.
    private let holder: URLRequest
    /// How long it is, where it says so itself.
    let byteCount: Int64?
    /// The names of the fields that come behind it.
    let trailerNames: [String]
    private let state = Mutex(State())

    private struct State: Sendable {
        var isAsked = false
        var isOpen = false
        var isReading = false
        var isOver = false
    }

    /// Takes a stream that is not open yet.
    init(_ stream: InputStream) {
        var holder = URLRequest(url: URL(fileURLWithPath: "/"))
        holder.httpBodyStream = stream
        self.holder = holder
        let made = stream as? MadeBodyStream
        byteCount = made?.byteCount
        trailerNames = made?.trailerNames ?? []
    }

    /// The stream itself, for code that reads it in the loader's place.
    var stream: InputStream? { holder.httpBodyStream }

    /// A request's values that hold the stream.
    var values: RequestValues { holder.values }

    /// Whether no piece of it was asked for, and it was not closed.
    var isUntouched: Bool { state.withLock { !$0.isAsked && !$0.isOver } }

    /// The stream, where no piece of it was asked for: it can be sent from its beginning,
    /// whether or not this was closed.
    var unread: InputStream? { state.withLock { $0.isAsked } ? nil : stream }

    func next(_ answer: @escaping @Sendable (SourcePiece) -> Void) {
        if let sequence { return read(sequence, answer) }
        let isOpen = state.withLock { state in
            state.isAsked = true
            return state.isOpen && !state.isOver
        }
        if isOpen, let pair, pair.awaitReading({ [self] in serve(answer) }) { return }
        serve(answer)
    }

    private var sequence: SequenceSource? { (holder.httpBodyStream as? AsyncBodyStream)?.source }

    /// Passes the question on, which needs no thread.
    private func read(_ sequence: SequenceSource, _ answer: @escaping @Sendable (SourcePiece) -> Void) {
        let isOpen = state.withLock { state in
            defer { (state.isAsked, state.isOpen) = (true, true) }
            return state.isOpen
        }
        guard isOpen || sequence.claim() else { return answer(.failed(BodyStreamProblem.usedUp)) }
        sequence.next(answer)
    }

    private func serve(_ answer: @escaping @Sendable (SourcePiece) -> Void) {
        let isRunning = Self.threads.run { [self] in readPiece(answer) }
        if !isRunning { answer(.failed(BodyStreamProblem.noThread)) }
    }

    private var pair: BoundInputStream? { holder.httpBodyStream as? BoundInputStream }

    /// Order: a stream is never touched by two threads at once, so one that is being read is closed by its reader.
    func close() {
        let mustClose = state.withLock { state in
            defer { state.isOver = true }
            return state.isOpen && !state.isReading && !state.isOver
        }
        guard mustClose else { return }
        if let sequence { return sequence.close() }
        // That of a pair waits for nothing.
        if pair != nil { closeStream() } else { Self.threads.run { [self] in closeStream() } }
    }

    // MARK: On a thread of its own

    private func readPiece(_ answer: @escaping @Sendable (SourcePiece) -> Void) {
        while true {
            let (isWanted, isOpen) = state.withLock { state in
                state.isReading = !state.isOver
                return (!state.isOver, state.isOpen)
            }
            guard isWanted, let stream = holder.httpBodyStream else { return answer(.end) }
            let problem = isOpen ? nil : open(stream)
            let isEmpty = problem == nil && pair?.isEmpty ?? false
            let piece = isEmpty ? nil : problem ?? read(stream)
            let mustClose = state.withLock { state in
                state.isReading = false
                return state.isOver && state.isOpen
            }
            if mustClose { closeStream() }
            if let piece { return answer(piece) }
            // Order: when this read is over, since the closure that is called reads.
            if let pair, pair.awaitReading({ [self] in serve(answer) }) { return }
        }
    }

    /// Opens the stream; what is wrong with it, if anything is.
    private func open(_ stream: InputStream) -> SourcePiece? {
        switch stream.streamStatus {
        case .error: return .failed(Self.problem(of: stream))
        case .closed, .atEnd: return .failed(BodyStreamProblem.usedUp)
        case .notOpen, .opening, .open, .reading, .writing: break
        @unknown default: break
        }
        guard Self.inUse.withLock({ $0.insert(ObjectIdentifier(stream)).inserted }) else {
            return .failed(BodyStreamProblem.inUse)
        }
        stream.open()
        state.withLock { $0.isOpen = true }
        return nil
    }

    private func read(_ stream: InputStream) -> SourcePiece {
        var count = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.pieceSize) { buffer, filled in
            guard let start = buffer.baseAddress else { return }
            count = stream.read(start, maxLength: buffer.count)
            filled = min(max(count, 0), buffer.count)
        }
        switch count {
        case 1...Self.pieceSize: return .bytes(bytes)
        // A subclass may say by its status alone that it has failed, as one does that could not be opened.
        case 0 where stream.streamStatus != .error: return .end
        // One may read only while it is open, and say so behind its end, too.
        case ..<0 where stream.streamStatus == .atEnd: return .end
        default: return .failed(Self.problem(of: stream))
        }
    }

    /// Order: Foundation's `streamError` stops the program when there is none.
    private static func problem(of stream: InputStream) -> any Error {
        let error = stream.streamStatus == .error ? stream.streamError : nil
        return error ?? BodyStreamProblem.unreadable
    }

    private func closeStream() {
        state.withLock { $0.isOpen = false }
        guard let stream = holder.httpBodyStream else { return }
        stream.close()
        _ = Self.inUse.withLock { $0.remove(ObjectIdentifier(stream)) }
    }

    /// Streams that are being read: the same one in two tasks would be read by two threads at once.
    private static let inUse = Mutex<Set<ObjectIdentifier>>([])

    /// As many streams of other kinds as may wait for their producers at once; more wait for these.
    private static let threads = BlockingPool(limit: 64, idleTime: .seconds(5), name: "url-body")

    private static let pieceSize = 64 * 1024
}

/// What can be wrong with a body stream that says nothing itself.
enum BodyStreamProblem: Error {
    case unreadable
    case usedUp
    case inUse
    case noThread

    /// A sentence for a person.
    var text: String {
        switch self {
        case .unreadable: "The request's body stream could not be read."
        case .usedUp: "The request's body stream has been used before; a body stream can be read once."
        case .inUse: "The request's body stream is being read by another task."
        case .noThread: "The system has no thread left for reading the request's body stream."
        }
    }
}
