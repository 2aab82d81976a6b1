// Writes a body into a temporary file while it arrives (B9.1, B9.15). The loop hands pieces over and never waits for
// the disk: a thread that may block writes them, and where it is slower than the network the socket is not read.
//
// One writer at a time works on a sink; the state between it and the loop is behind one Mutex, and nothing is called
// while that is held. Must not know: what the file is for, what is in it.

import Synchronization
import URLLoadingSystem

/// Where the body of one response is written to.
package final class FileSink: Sendable {
    /// What a sink reports, on the writing thread.
    package enum Event: Sendable {
        /// So many bytes are in the file.
        case written(Int64)
        /// More can be taken: the answer to `ReceiverDemand.pause`.
        case room
        /// The file cannot be written; further bytes are ignored.
        case failed(FileFailure)
    }

    private let state = Mutex(State())
    private let lane: BlockingLane
    private let naming: FileNaming
    private let create: @Sendable () -> Result<TemporaryFile, SystemError>
    /// How many bytes there will be in the end, where room is to be taken for them ahead: as the server
    /// has said, which may lie.
    private let expected: Int64?
    /// Whether the file was there before.
    private let continues: Bool
    private let report: @Sendable (Event) -> Void

    fileprivate struct State: Sendable {
        var waiting: [BodyChunk] = []
        /// Bytes that have arrived and are not in the file.
        var unwritten = 0
        var written: Int64 = 0
        var isPaused = false
        /// Whether a thread works on the sink, or is about to.
        var hasWriter = false
        var file: TemporaryFile?
        /// Up to where room has been taken ahead, or it was tried; nil before the first time.
        var reserved: Int64?
        var failure: FileFailure?
        var ending: Ending?
        /// Whether an end is being carried out, or was. The handler that waits for the end is let go then: it may be
        /// what holds the sink.
        var isOver = false
    }

    fileprivate enum Ending: Sendable {
        case finish(@Sendable (Result<TemporaryFile, FileFailure>) -> Void)
        case keep(@Sendable (PartialFile?) -> Void)
        case discard(@Sendable () -> Void)
    }

    /// A sink into a file that `create` makes at the first need, on the writing thread, or behind what is in `partial`.
    /// Where `expected` is given, and it cannot fit, that is said before the first is written; room for it is taken in
    /// steps, each of what has come so far: a length that is only claimed cannot fill the disk.
    package init(
        lane: BlockingLane = .files, naming: FileNaming = .downloads, expecting expected: Int64? = nil,
        continuing partial: PartialFile? = nil, create: @escaping @Sendable () -> Result<TemporaryFile, SystemError>,
        report: @escaping @Sendable (Event) -> Void
    ) {
        self.lane = lane
        self.naming = naming
        self.expected = expected.flatMap { $0 >= Self.leastReserved ? $0 : nil }
        self.create = create
        self.report = report
        continues = partial != nil
        guard let partial else { return }
        state.withLock { state in
            state.file = partial.file
            state.written = partial.byteCount
        }
    }

    /// Takes bytes in, from the loop.
    package func write(_ piece: BodyPiece) -> ReceiverDemand {
        let kept = piece.keep()
        return take(count: piece.bytes.count) { state in
            if let kept { state.waiting.append(.kept(kept)) } else { state.waiting.append(copyOf: piece.bytes) }
        }
    }

    /// Takes in a copy of bytes, from any thread.
    package func write(copying bytes: UnsafeRawBufferPointer) -> ReceiverDemand {
        take(count: bytes.count) { $0.waiting.append(copyOf: bytes) }
    }

    private func take(count: Int, _ append: (inout State) -> Void) -> ReceiverDemand {
        let (needsWriter, demand) = state.withLock { state -> (Bool, ReceiverDemand) in
            guard state.failure == nil, state.ending == nil, !state.isOver else { return (false, .more) }
            append(&state)
            state.unwritten += count
            if state.unwritten >= Self.highWaterMark { state.isPaused = true }
            return (state.claimWriter(), state.isPaused ? .pause : .more)
        }
        if needsWriter { lane.run { self.work() } }
        return demand
    }

    /// The body is whole: writes what is left and gives the closed file; without any bytes an empty one (B9.6). After a
    /// failure what has been written is still there, for `keep` or `discard`.
    package func finish(_ done: @escaping @Sendable (Result<TemporaryFile, FileFailure>) -> Void) {
        end(.finish(done))
    }

    /// The body is not whole, and is left for later: writes what has come, and gives the closed file, which is still
    /// its object's; nil where there is nothing to keep.
    package func keep(_ done: @escaping @Sendable (PartialFile?) -> Void) {
        end(.keep(done))
    }

    /// The body is not wanted: removes the file, and then says so.
    package func discard(_ done: @escaping @Sendable () -> Void) {
        end(.discard(done))
    }

    private func end(_ ending: Ending) {
        let needsWriter = state.withLock { state in
            guard state.ending == nil, !state.isOver else { return false }
            state.ending = ending
            if case .discard = ending { state.waiting = [] }
            return state.claimWriter()
        }
        if needsWriter { lane.run { self.work() } }
    }

    // MARK: The writer

    fileprivate enum Step: Sendable {
        case write([BodyChunk])
        case end(Ending, TemporaryFile?, FileFailure?)
        case rest
        /// Others wait for the thread too.
        case makeWay
    }

    private func work() {
        var batches = 0
        while true {
            let step = state.withLock { $0.next(afterBatches: batches) }
            switch step {
            case .write(let chunks):
                append(chunks)
                batches += 1
            case .end(let ending, let file, let failure):
                return carryOut(ending, file, failure)
            case .rest:
                return
            case .makeWay:
                return lane.run { self.work() }
            }
        }
    }

    private func append(_ chunks: [BodyChunk]) {
        let file: TemporaryFile
        switch opened(for: chunks.reduce(0) { $0 + Int64($1.count) }) {
        case .success(let opened): file = opened
        case .failure(let failure): return fail(failure)
        }
        for chunk in chunks {
            if let error = chunk.withBytes({ file.append($0) }) { return fail(FileFailure(.write, error)) }
            let hasRoom = state.withLock { state in
                let (written, isTooMuch) = state.written.addingReportingOverflow(Int64(chunk.count))
                state.written = isTooMuch ? .max : written
                state.unwritten -= chunk.count
                guard state.isPaused, state.unwritten <= Self.lowWaterMark else { return false }
                state.isPaused = false
                return true
            }
            if hasRoom { report(.room) }
        }
        report(.written(state.withLock { $0.written }))
    }

    /// The file, with room for so many bytes more and for some of those that follow.
    private func opened(for count: Int64) -> Result<TemporaryFile, FileFailure> {
        let (known, written, reserved) = state.withLock { ($0.file, $0.written, $0.reserved) }
        let opened = known.map { .success($0) } ?? create().mapError { FileFailure(.create, $0) }
        guard case .success(let file) = opened else { return opened }
        if known == nil { state.withLock { $0.file = file } }
        // What is expected is a peer's word, and what is written may be a journal's: sums of both may be too large.
        guard let expected, expected > written, count > (reserved ?? written) - written else { return opened }
        let step = min(expected - written, count + min(max(written, Self.leastReserved), Self.mostReserved))
        let end = written + step
        state.withLock { $0.reserved = end }
        // What will not fit is told before it is loaded.
        let error =
            (reserved == nil ? file.lacksRoom(for: expected - written) : nil)
            ?? file.reserve(from: written, count: step)
        return error.map { .failure(FileFailure(.write, $0)) } ?? opened
    }

    private func fail(_ failure: FileFailure) {
        state.withLock { state in
            state.failure = failure
            state.waiting = []
            state.isPaused = false
        }
        report(.failed(failure))
    }

    private func carryOut(_ ending: Ending, _ file: TemporaryFile?, _ failure: FileFailure?) {
        switch ending {
        case .discard(let done):
            file?.remove()
            done()
        case .keep(let done):
            done(kept(file))
        case .finish(let done):
            let result = failure.map { .failure($0) } ?? closed(file)
            if case .failure = result { reopen(for: failure == nil ? nil : file) }
            done(result)
        }
    }

    /// Another end may follow.
    private func reopen(for file: TemporaryFile?) {
        state.withLock { state in
            state.file = file
            state.isOver = false
            state.hasWriter = false
        }
    }

    private func closed(_ file: TemporaryFile?) -> Result<TemporaryFile, FileFailure> {
        let made = file.map { .success($0) } ?? create().mapError { FileFailure(.create, $0) }
        guard case .success(let file) = made else { return made }
        // Order: while it is still locked. Code that knows the old name must not find the file after the end.
        if continues, let error = file.rename(prefix: naming.prefix, suffix: naming.suffix) {
            return .failure(FileFailure(.move, error))
        }
        if let error = file.lookForName() { return .failure(FileFailure(.close, error)) }
        guard let error = file.close() else { return made }
        return .failure(FileFailure(.close, error))
    }

    private func kept(_ file: TemporaryFile?) -> PartialFile? {
        let written = state.withLock { $0.written }
        guard let file, written > 0 else {
            file?.remove()
            return nil
        }
        let isKept =
            file.shorten(to: written) == nil
            && (continues || file.rename(prefix: naming.prefix, suffix: naming.partialSuffix) == nil)
            && file.close() == nil
        guard isKept else {
            file.remove()
            return nil
        }
        return PartialFile(file: file, byteCount: written)
    }

    /// Above this much unwritten the socket is not read.
    private static let highWaterMark = 1024 * 1024
    /// Below this much it is read again; not zero, so that the writer has work while the loop wakes up.
    private static let lowWaterMark = 256 * 1024
    /// Picked by feel: of less the disk has room, or the first write says that it has none.
    private static let leastReserved: Int64 = 1024 * 1024
    /// Picked by feel: so many calls a gigabyte cost nothing, and so much is given back at once.
    private static let mostReserved: Int64 = 64 * 1024 * 1024
    /// Picked by feel: this much in a row of one file, then the next file's.
    fileprivate static let batchesInARow = 16
}

extension FileSink.State {
    fileprivate mutating func claimWriter() -> Bool {
        guard !hasWriter else { return false }
        hasWriter = true
        return true
    }

    fileprivate mutating func next(afterBatches batches: Int) -> FileSink.Step {
        if !waiting.isEmpty {
            if batches >= FileSink.batchesInARow { return .makeWay }
            defer { waiting = [] }
            return .write(waiting)
        }
        guard let ending else {
            hasWriter = false
            return .rest
        }
        defer {
            file = nil
            self.ending = nil
            isOver = true
        }
        return .end(ending, file, failure)
    }
}

/// Why a file could not be written.
package struct FileFailure: Error, Sendable, Equatable {
    /// What was being done.
    package enum Step: Sendable, Equatable {
        /// Making it.
        case create
        /// Writing to it.
        case write
        /// Closing it.
        case close
        /// Giving it another name.
        case move
    }

    /// What was being done.
    package let step: Step
    /// What the system said.
    package let error: SystemError

    /// What was being done, and what the system said.
    package init(_ step: Step, _ error: SystemError) {
        self.step = step
        self.error = error
    }
}
