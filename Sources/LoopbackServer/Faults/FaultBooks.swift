// What the faulty network did: written on its loop, read from anywhere. With it a wrong or missing answer is laid at
// the right door. Bounded: the oldest connections are forgotten.

import Synchronization
import URLLoadingSystem

/// The books of a fault proxy.
package final class FaultBooks: Sendable {
    /// What happened to one connection.
    package struct Entry: Sendable {
        /// Counts the connections from 1.
        package let number: Int
        /// What was done to the client's bytes, in order.
        package internal(set) var toServer: [Fault] = []
        /// What was done to the server's bytes, in order.
        package internal(set) var toClient: [Fault] = []
        /// What the client was sent, as far as it is kept.
        package internal(set) var delivered: [UInt8] = []
        /// How much the client was sent.
        package internal(set) var deliveredCount: Int64 = 0
        fileprivate let keptBytes: Int

        /// Whether anything was done that may cost an answer.
        package var isHarmed: Bool { (toServer + toClient).contains { !$0.kind.isHarmless } }
        /// Whether `delivered` is all that the client was sent.
        package var isComplete: Bool { deliveredCount == delivered.count }
    }

    private struct State {
        var entries: [Int: Entry] = [:]
        /// The client's ports, oldest first.
        var order: [(port: Int, number: Int)] = []
        var counts: [Fault.Kind: Int] = [:]
        var connections = 0
        /// Those that are open and to which something happened, by number.
        var harmedOpen: Set<Int> = []
        var lastHarmedEnd: ContinuousClock.Instant?
    }

    private let state = Mutex(State())
    private let keptConnections: Int

    init(keptConnections: Int) {
        self.keptConnections = keptConnections
    }

    /// How often each kind of fault has happened.
    package var counts: [Fault.Kind: Int] { state.withLock(\.counts) }
    /// How many connections there have been.
    package var connections: Int { state.withLock(\.connections) }
    /// How often something happened that may cost an answer.
    package var harms: Int { counts.reduce(0) { $0 + ($1.key.isHarmless ? 0 : $1.value) } }

    /// Whether a connection to which something happened that may cost an answer was still there at that time, or came
    /// later: the most that can be said of a failure whose connection is not known.
    package func wasHarmed(since time: ContinuousClock.Instant) -> Bool {
        state.withLock { state in !state.harmedOpen.isEmpty || state.lastHarmedEnd.map { $0 >= time } ?? false }
    }

    /// The last connection that came from a port, if it is not forgotten.
    package func entry(clientPort port: Int) -> Entry? { state.withLock { $0.entries[port] } }

    func opened(port: Int, number: Int, keptBytes: Int) {
        state.withLock { state in
            state.connections += 1
            state.entries[port] = Entry(number: number, keptBytes: keptBytes)
            state.order.append((port, number))
            guard state.order.count > keptConnections else { return }
            let oldest = state.order.removeFirst()
            if state.entries[oldest.port]?.number == oldest.number { state.entries[oldest.port] = nil }
        }
    }

    func fired(_ faults: some Sequence<Fault>, isToClient: Bool, port: Int, number: Int) {
        state.withLock { state in
            for fault in faults {
                state.counts[fault.kind, default: 0] += 1
                if !fault.kind.isHarmless { state.harmedOpen.insert(number) }
                guard state.entries[port]?.number == number else { continue }
                if isToClient {
                    state.entries[port]?.toClient.append(fault)
                } else {
                    state.entries[port]?.toServer.append(fault)
                }
            }
        }
    }

    func closed(number: Int) {
        state.withLock { state in
            if state.harmedOpen.remove(number) != nil { state.lastHarmedEnd = .now }
        }
    }

    /// Has bytes sent, and notes as many as were: in one go, so that their receiver finds them noted.
    func deliver(
        _ bytes: ArraySlice<UInt8>, port: Int, number: Int, _ send: (UnsafeRawBufferPointer) -> IOResult
    ) -> IOResult {
        state.withLock { state in
            let result = bytes.withUnsafeBytes(send)
            guard case .bytes(let count) = result, state.entries[port]?.number == number else { return result }
            // Not by a copy of the entry, which would have its bytes copied with each append.
            let room = (state.entries[port]?.keptBytes ?? 0) - (state.entries[port]?.delivered.count ?? 0)
            state.entries[port]?.deliveredCount += Int64(count)
            if room > 0 { state.entries[port]?.delivered.append(contentsOf: bytes.prefix(min(room, count))) }
            return result
        }
    }
}
