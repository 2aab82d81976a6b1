// A ring of bytes between a writer and a reader on other threads: who finds it full or empty waits, or is told later.
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
        /// Threads that wait for a change.
        var sleepers: [DispatchSemaphore] = []
        var readerObserver: (@Sendable () -> Void)?
        var writerObserver: (@Sendable () -> Void)?
    }

    init(capacity: Int) {
        state = Mutex(State(ring: [UInt8](repeating: 0, count: max(1, capacity))))
    }

    /// What the reader can expect: bytes, or that the writer has closed.
    var canRead: (bytes: Bool, end: Bool) { state.withLock { ($0.count > 0, $0.count == 0 && $0.isWriterClosed) } }

    /// What the writer can expect: room, or that the reader has closed.
    var canWrite: (room: Bool, end: Bool) { state.withLock { ($0.count < $0.ring.count, $0.isReaderClosed) } }

    /// Calls `observer` whenever the reader may find something new, on the thread that caused it.
    func observeReading(_ observer: @escaping @Sendable () -> Void) { state.withLock { $0.readerObserver = observer } }

    /// Calls `observer` whenever the writer may find something new, on the thread that caused it.
    func observeWriting(_ observer: @escaping @Sendable () -> Void) { state.withLock { $0.writerObserver = observer } }

    /// Takes out what there is, waiting for at least one byte; 0 once the writer has closed and all is read.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard !buffer.isEmpty else { return 0 }
        return waiting { state -> Int? in
            guard state.count > 0 else { return state.isWriterClosed || state.isReaderClosed ? 0 : nil }
            let count = min(state.count, buffer.count)
            for index in 0..<count { buffer[index] = state.ring[(state.first + index) % state.ring.count] }
            state.first = (state.first + count) % state.ring.count
            state.count -= count
            return count
        } telling: {
            $0.writerObserver
        }
    }

    /// Puts in what there is room for, waiting for at least one byte's; −1 once either end has closed.
    func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard !bytes.isEmpty else { return 0 }
        return waiting { state -> Int? in
            if state.isReaderClosed || state.isWriterClosed { return -1 }
            let count = min(state.ring.count - state.count, bytes.count)
            guard count > 0 else { return nil }
            let start = state.first + state.count
            for index in 0..<count { state.ring[(start + index) % state.ring.count] = bytes[index] }
            state.count += count
            return count
        } telling: {
            $0.readerObserver
        }
    }

    func closeWriting() { close { $0.isWriterClosed = true } }

    func closeReading() { close { $0.isReaderClosed = true } }

    private func close(_ change: (inout State) -> Void) {
        let (sleepers, observers) = state.withLock { state in
            change(&state)
            defer { state.sleepers = [] }
            return (state.sleepers, [state.readerObserver, state.writerObserver])
        }
        for sleeper in sleepers { sleeper.signal() }
        for observer in observers { observer?() }
    }

    /// Tries until something could be done, and tells the other end.
    private func waiting(
        _ attempt: (inout State) -> Int?, telling observer: (State) -> (@Sendable () -> Void)?
    ) -> Int {
        while true {
            let sleeper = DispatchSemaphore(value: 0)
            let (result, sleepers, told) = state.withLock {
                state -> (Int?, [DispatchSemaphore], (@Sendable () -> Void)?) in
                guard let result = attempt(&state) else {
                    state.sleepers.append(sleeper)
                    return (nil, [], nil)
                }
                defer { state.sleepers = [] }
                return (result, state.sleepers, observer(state))
            }
            guard let result else {
                sleeper.wait()
                continue
            }
            for sleeper in sleepers { sleeper.signal() }
            told?()
            return result
        }
    }
}
