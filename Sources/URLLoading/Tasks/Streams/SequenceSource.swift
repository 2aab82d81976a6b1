// Reads an asynchronous sequence for a connection, one piece ahead of what is being sent.
//
// The sequence is read in a Swift task whose executor this is: so it knows when the task has nothing more to do at
// once. Elements are gathered while they come without waiting, and sent as soon as one has to be waited for.
//
// Must not know: tasks of a session, how content is framed or sent.

import Dispatch
import Foundation
import Synchronization
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingWire

/// Gives the bytes of one sequence, once.
@usableFromInline
final class SequenceSource: BodySource {
    private let trailers: URLRequest.AsyncBody.Trailers?
    private let isRenewable: Bool
    private let state: Mutex<State>

    private struct State {
        /// The sequence, until it is being read.
        var sequence: SequenceReading?
        var isClaimed = false
        var isClosed = false
        /// The reader's handler, which waits for the next piece.
        var asked: (@Sendable (SourcePiece) -> Void)?
        /// What has been gathered.
        var gathered: [UInt8] = []
        /// How much is missing to the announced length, where there is one.
        var missing: Int64?
        /// What follows the gathered bytes, once all was read.
        var end: SourcePiece?
        /// The reading task, and it again while it waits to be asked for more.
        var reading: Task<Void, Never>?
        var waiting: UnsafeContinuation<Void, Never>?

        /// Whether what has been gathered is a piece. At the announced length it is one, and whether more comes makes
        /// no difference to it: otherwise it would depend on how fast more comes (B5.29).
        var isPiece: Bool { gathered.count >= pieceSize || !gathered.isEmpty && missing.map { $0 <= 0 } ?? false }

        /// Whether the sequence may be asked for more.
        var isWanted: Bool { isClosed || asked != nil && !isPiece }

        /// The call that gives the next piece to its reader, if there is a piece and a reader.
        mutating func takeAnswer() -> (@Sendable () -> Void)? {
            guard let asked, let piece = takePiece() else { return nil }
            self.asked = nil
            return { asked(piece) }
        }

        private mutating func takePiece() -> SourcePiece? {
            guard gathered.isEmpty else {
                defer { gathered = [] }
                return .bytes(gathered)
            }
            return end
        }

        mutating func takeWaiting() -> UnsafeContinuation<Void, Never>? {
            defer { waiting = nil }
            return waiting
        }
    }

    init(_ body: URLRequest.AsyncBody) {
        // Trailers go behind a body without a length.
        state = Mutex(State(sequence: body.sequence, missing: body.trailers == nil ? body.contentLength : nil))
        trailers = body.trailers
        isRenewable = body.isRenewable
    }

    /// Whether the caller is the first that wants to read the sequence.
    func claim() -> Bool {
        state.withLock { state in
            defer { state.isClaimed = true }
            return !state.isClaimed
        }
    }

    func next(_ answer: @escaping @Sendable (SourcePiece) -> Void) {
        let (given, waiting, sequence) = state.withLock { state in
            state.asked = answer
            let given = state.takeAnswer()
            let sequence = state.sequence
            state.sequence = nil
            return (given, given == nil ? state.takeWaiting() : nil, sequence)
        }
        given?()
        waiting?.resume()
        if let sequence { begin(sequence) }
    }

    func close() {
        let (reading, waiting, sequence) = state.withLock { state in
            state.isClosed = true
            state.asked = nil
            state.gathered = []
            defer { (state.reading, state.sequence) = (nil, nil) }
            return (state.reading, state.takeWaiting(), state.sequence)
        }
        guard reading != nil || waiting != nil || sequence != nil else { return }
        // What the program does where its sequence is cancelled, or ends, may take its time or wait for another load:
        // neither on the loop nor under the lock.
        DispatchQueue.global().async {
            reading?.cancel()
            waiting?.resume()
            withExtendedLifetime(sequence) {}
        }
    }

    // MARK: Reading

    private func begin(_ sequence: @escaping SequenceReading) {
        let reading = Task(executorPreference: self) { [self] in
            do {
                try await sequence(self)
                end(with: try await ending())
            } catch {
                end(with: .failed(error))
            }
        }
        let isWanted = state.withLock { state in
            if !state.isClosed, state.end == nil { state.reading = reading }
            return !state.isClosed
        }
        // As in `close`.
        if !isWanted { DispatchQueue.global().async { reading.cancel() } }
    }

    /// What is sent behind the last element.
    private func ending() async throws -> SourcePiece {
        guard let trailers else { return .end }
        var fields = Fields()
        // In an order that does not change from one sending to the next.
        for (name, value) in try await trailers.make().sorted(by: { $0.key < $1.key }) {
            guard trailers.names.contains(where: { FieldText.sameName($0, name) }) else {
                throw URLRequest.AsyncBody.TrailerError(name: name, problem: .notAnnounced)
            }
            guard !value.utf8.contains(where: Tokens.isControl) else {
                throw URLRequest.AsyncBody.TrailerError(name: name, problem: .malformedValue)
            }
            fields.append(name, value)
        }
        return fields.isEmpty ? .end : .trailers(fields)
    }

    private func end(with piece: SourcePiece) {
        let answer = state.withLock { state in
            state.end = piece
            state.reading = nil
            return state.takeAnswer()
        }
        answer?()
    }

    // MARK: From the reading task

    /// Whether no more is wanted.
    @usableFromInline var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Whether the sequence is to hear that it was given up. It is not where the body was whole, nor where it was made
    /// for this reader alone: then it goes with the reader, and the next one may read the same things anew already.
    @usableFromInline var tellsItsSequence: Bool { !isRenewable && state.withLock { $0.missing != 0 } }

    /// What is to follow when bytes of an element were taken.
    @usableFromInline
    enum Demand {
        /// The next element: this one was taken whole.
        case next
        /// What is left of the element, or the next one, as soon as more is wanted.
        case later(taken: Int)
        /// Nothing.
        case over
    }

    /// Takes as many of an element's bytes as there is room for, but those that were taken before.
    @usableFromInline
    func gather(_ element: UnsafeRawBufferPointer, behind taken: Int = 0) -> Demand {
        let bytes = element[taken...]
        return state.withLock { state in
            guard !state.isClosed else { return .over }
            var count = min(bytes.count, pieceSize - state.gathered.count)
            // A piece that ends at the announced length is the whole body: what the element has beyond it must be seen.
            if count < bytes.count, state.missing == Int64(count) { count += 1 }
            state.gathered.append(contentsOf: bytes.prefix(count))
            if let missing = state.missing { state.missing = max(missing, 0) - Int64(count) }
            // Where the element did not find room there is a piece.
            return state.isWanted ? .next : .later(taken: taken + count)
        }
    }

    /// Waits until more is wanted, or no more ever is.
    func awaitDemand() async {
        await withUnsafeContinuation { continuation in
            let (isWanted, answer) = state.withLock { state in
                let answer = state.isPiece ? state.takeAnswer() : nil
                if state.isWanted { return (true, answer) }
                state.waiting = continuation
                return (false, answer)
            }
            answer?()
            if isWanted { continuation.resume() }
        }
    }
}

/// The executor of the reading task, which runs its pieces one at a time.
extension SequenceSource: TaskExecutor {
    @usableFromInline
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        DispatchQueue.global().async { [self] in
            job.runSynchronously(on: asUnownedTaskExecutor())
            // The task has nothing to do at once: what was gathered is given, if it is wanted.
            state.withLock { $0.takeAnswer() }?()
        }
    }
}

/// Gives all bytes of a sequence to a source, as it wants them.
///
/// A closure: of a value behind a protocol the program could not compile the method for its own sequence.
@usableFromInline
typealias SequenceReading = @Sendable (SequenceSource) async throws -> Void

/// Makes a sequence, and reads it.
@usableFromInline
struct SequenceReader<Pieces: AsyncSequence>: Sendable where Pieces.Element: URLRequest.BodyElement {
    @usableFromInline let make: @Sendable () -> Pieces

    @inlinable
    init(_ make: @escaping @Sendable () -> Pieces) { self.make = make }

    /// Compiled by the program for its sequence, and without a call that may wait for each element:
    /// those may be single bytes.
    @inlinable
    func read(into source: SequenceSource) async throws {
        var elements = make().makeAsyncIterator()
        var isOpen = !source.isClosed
        while isOpen {
            guard let element = try await elements.next() else { return }
            switch element.withBodyBytes({ source.gather($0) }) {
            case .next: continue
            case .later(let taken): isOpen = await Self.giveRest(of: element, behind: taken, to: source)
            case .over: isOpen = false
            }
        }
        // A sequence that others hold too hears that it is given up where it is asked in a cancelled task.
        if source.tellsItsSequence {
            withUnsafeCurrentTask { $0?.cancel() }
            _ = try await elements.next()
        }
        throw CancellationError()
    }

    /// Gives what is left of an element, if anything is, as it is wanted; `false` where no more ever is.
    @usableFromInline
    static func giveRest(
        of element: Pieces.Element, behind taken: Int, to source: SequenceSource
    ) async -> Bool {
        var taken = taken
        while true {
            await source.awaitDemand()
            switch element.withBodyBytes({ taken < $0.count ? source.gather($0, behind: taken) : nil }) {
            case .next: return true
            case .later(let more): taken = more
            case .over: return false
            case nil: return !source.isClosed
            }
        }
    }
}

/// How much is gathered: as much as a piece of a stream of Foundation's.
private let pieceSize = 64 * 1024
