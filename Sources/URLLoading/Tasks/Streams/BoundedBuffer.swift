// A ring of bytes between a writer and a reader on other threads: a writer that finds it full, and a reader that finds
// it empty, waits or is told later.
//
// Must not know: streams.

import Dispatch
import Synchronization

/// A bounded queue of bytes with two ends, each of which can be closed.
final class BoundedBuffer: Sendable {
    private let state: Mutex<State>

    private struct State: Sendable {
        var ring: [UInt8]
        var first = 0
        var count = 0
        var isWriterClosed = false
        var isReaderClosed = false
        /// Whether something was written that no reader takes any more.
        var isAbandoned = false
        /// Whether a read has given 0: only that tells a reader that nothing more comes (B11.40).
        var hasReadEnd = false
        /// Why an end was closed that would have gone on.
        var failure: (any Error)?
        /// Threads that wait for a change.
        var sleepers: [DispatchSemaphore] = []
        var readerObserver: (@Sendable () -> Void)?
        var writerObserver: (@Sendable () -> Void)?
        /// A reader that waits without a thread, told once.
        var waitingReader: (@Sendable () -> Void)?

        /// Whether a reader finds bytes, the end, or why there is none.
        var canRead: Bool { count > 0 || isWriterClosed || isReaderClosed }

        /// The readers that are to be told that there is something to read.
        mutating func readers() -> Told {
            defer { waitingReader = nil }
            return Told(observer: readerObserver, waiting: waitingReader)
        }

        /// Nil where there is nothing yet; 0 at the end, −1 at a failure.
        mutating func take(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
            guard count > 0 else {
                guard canRead else { return nil }
                hasReadEnd = true
                return failure == nil ? 0 : -1
            }
            let taken = min(count, buffer.count)
            let upToEnd = min(taken, ring.count - first)
            ring.withUnsafeBytes { ring in
                buffer.copyBytes(from: ring[first..<first + upToEnd])
                UnsafeMutableRawBufferPointer(rebasing: buffer[upToEnd...]).copyBytes(from: ring[..<(taken - upToEnd)])
            }
            first = (first + taken) % ring.count
            count -= taken
            return taken
        }

        /// Nil where there is no room yet; −1 once either end has closed.
        mutating func put(_ bytes: UnsafeRawBufferPointer) -> Int? {
            if isReaderClosed, !isWriterClosed { isAbandoned = true }
            if isReaderClosed || isWriterClosed { return -1 }
            let taken = min(ring.count - count, bytes.count)
            guard taken > 0 else { return nil }
            let start = (first + count) % ring.count
            let upToEnd = min(taken, ring.count - start)
            ring.withUnsafeMutableBytes { ring in
                UnsafeMutableRawBufferPointer(rebasing: ring[start...]).copyBytes(from: bytes[..<upToEnd])
                ring.copyBytes(from: bytes[upToEnd..<taken])
            }
            count += taken
            return taken
        }
    }

    private struct Told: Sendable {
        var observer: (@Sendable () -> Void)?
        var waiting: (@Sendable () -> Void)?

        func tell() {
            observer?()
            waiting?()
        }
    }

    /// Makes a buffer of that many bytes, but of one at least and of `mostBytes` at most: programs name any number.
    init(capacity: Int) {
        state = Mutex(State(ring: [UInt8](repeating: 0, count: min(max(1, capacity), Self.mostBytes))))
    }

    /// Picked by feel: far more than two threads need between them, and far less than a machine has.
    static let mostBytes = 64 << 20

    /// What the reader can expect: something that a read gives, which once is 0 because the writer has closed (B11.40);
    /// or nothing any more.
    var canRead: (something: Bool, end: Bool) {
        state.withLock { state in
            if state.count > 0 { return (true, false) }
            guard state.isWriterClosed else { return (false, false) }
            let isOver = state.hasReadEnd || state.failure != nil || state.isReaderClosed
            return (!isOver, isOver)
        }
    }

    /// What the writer can expect: room, or that the reader has closed.
    var canWrite: (room: Bool, end: Bool) { state.withLock { ($0.count < $0.ring.count, $0.isReaderClosed) } }

    /// Why nothing more comes, or is taken: told once all is read.
    var failure: (any Error)? { state.withLock { $0.count > 0 && !$0.isReaderClosed ? nil : $0.failure } }

    /// Whether the reader has closed.
    var isReaderClosed: Bool { state.withLock { $0.isReaderClosed } }

    /// Whether something was written that no reader takes any more.
    var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

    /// Whether a reader would have to wait.
    var isEmpty: Bool { state.withLock { !$0.canRead } }

    /// Calls `observer` whenever the reader may find something new, on the thread that caused it.
    func observeReading(_ observer: @escaping @Sendable () -> Void) { state.withLock { $0.readerObserver = observer } }

    /// Calls `observer` whenever the writer may find something new, on the thread that caused it.
    func observeWriting(_ observer: @escaping @Sendable () -> Void) { state.withLock { $0.writerObserver = observer } }

    /// Calls `body` once, as soon as a reader would not have to wait, on the thread that has caused it; false where it
    /// would not have to now, and `body` is not called. One reader can wait so.
    func awaitReading(_ body: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            guard !state.canRead else { return false }
            state.waitingReader = body
            return true
        }
    }

    /// Takes out what there is, waiting for at least one byte; 0 once the writer has closed and all is read.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard !buffer.isEmpty else { return 0 }
        return waiting {
            $0.take(into: buffer)
        } telling: {
            Told(observer: $0.writerObserver)
        }
    }

    /// Takes out what there is; nil where nothing is there yet, 0 at the end.
    func poll(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        trying {
            $0.take(into: buffer)
        } telling: {
            Told(observer: $0.writerObserver)
        }
    }

    /// Puts in what there is room for, waiting for at least one byte's; −1 once either end has closed.
    func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard !bytes.isEmpty else { return 0 }
        return waiting {
            $0.put(bytes)
        } telling: {
            $0.readers()
        }
    }

    /// Puts in what there is room for; nil where there is none yet, −1 once either end has closed.
    func offer(_ bytes: UnsafeRawBufferPointer) -> Int? {
        trying {
            $0.put(bytes)
        } telling: {
            $0.readers()
        }
    }

    func closeWriting() { close { $0.isWriterClosed = true } }

    func closeReading() { close { $0.isReaderClosed = true } }

    /// Closes both ends to further bytes; what is in between can be read, then comes the failure, if there is one.
    func finishWriting(_ failure: (any Error)?) {
        close { state in
            state.isWriterClosed = true
            state.failure = state.failure ?? failure
        }
    }

    /// What is written has nowhere to go.
    func refuseReading(_ failure: (any Error)?) {
        close { state in
            state.isReaderClosed = true
            state.failure = state.failure ?? failure
        }
    }

    private func close(_ change: (inout State) -> Void) {
        let (sleepers, readers, writer) = state.withLock { state in
            change(&state)
            defer { state.sleepers = [] }
            return (state.sleepers, state.readers(), state.writerObserver)
        }
        for sleeper in sleepers { sleeper.signal() }
        readers.tell()
        writer?()
    }

    /// Tries once, and tells the other end if something could be done.
    private func trying(
        _ attempt: (inout State) -> Int?, telling told: (inout State) -> Told
    ) -> Int? {
        let (result, sleepers, others) = state.withLock { state -> (Int?, [DispatchSemaphore], Told) in
            guard let result = attempt(&state) else { return (nil, [], Told()) }
            defer { state.sleepers = [] }
            return (result, state.sleepers, told(&state))
        }
        for sleeper in sleepers { sleeper.signal() }
        others.tell()
        return result
    }

    /// Tries until something could be done, and tells the other end.
    private func waiting(
        _ attempt: (inout State) -> Int?, telling told: (inout State) -> Told
    ) -> Int {
        while true {
            let sleeper = DispatchSemaphore(value: 0)
            let (result, sleepers, others) = state.withLock { state -> (Int?, [DispatchSemaphore], Told) in
                guard let result = attempt(&state) else {
                    state.sleepers.append(sleeper)
                    return (nil, [], Told())
                }
                defer { state.sleepers = [] }
                return (result, state.sleepers, told(&state))
            }
            guard let result else {
                sleeper.wait()
                continue
            }
            for sleeper in sleepers { sleeper.signal() }
            others.tell()
            return result
        }
    }
}
