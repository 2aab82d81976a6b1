// Brings events to a session's delegate queue.
//
// Each task has a mailbox of its own, so that no two of its calls ever overlap (B1.28); the relay holds the line of
// mailboxes that have something to deliver. Each delegate call gets in line on the queue when the one before it has
// returned, so that what a program has put there meanwhile comes first (B1.110). An operation costs several
// microseconds, though, an event in a batch almost nothing: on a queue that the session made itself, and on which
// nothing of the program's waits, the program cannot tell the difference, and one operation empties as many mailboxes
// as it finds. A serial queue has at most one operation at a time, so everything arrives in the order of the line; a
// concurrent one gets several, each with its own tasks.
//
// Must not know: what is delivered.

import Foundation
import Synchronization

/// Something that has events to deliver.
protocol RelayClient: AnyObject, Sendable {
    /// Delivers the first of what there is, and more as long as `mayGoOn` says so; called on the delegate queue, never
    /// twice at once for one client. Whether something is left, for which the client has to be called again.
    func deliver(mayGoOn: () -> Bool) -> Bool
}

/// Hands a session's events to its queue.
final class DelegateRelay: Sendable {
    private let known: Mutex<OperationQueue?>
    /// Whether the queue is the program's.
    private let isGiven: Bool
    private let makeQueue: @Sendable () -> OperationQueue
    private let line = Mutex(Line())

    private struct Line {
        private var arriving: [any RelayClient] = []
        /// The front of the line, last first.
        private var leaving: [any RelayClient] = []
        var operations = 0

        var isEmpty: Bool { arriving.isEmpty && leaving.isEmpty }

        mutating func append(_ clients: [any RelayClient]) {
            if arriving.isEmpty { arriving = clients } else { arriving += clients }
        }

        mutating func putBack(_ client: any RelayClient) { leaving.append(client) }

        mutating func take() -> (any RelayClient)? {
            if leaving.isEmpty {
                swap(&arriving, &leaving)
                leaving.reverse()
            }
            return leaving.popLast()
        }
    }

    /// A relay to that queue, or to a serial one of its own (B1.27).
    init(queue: OperationQueue?, otherwise makeQueue: @escaping @Sendable () -> OperationQueue) {
        known = Mutex(queue)
        isGiven = queue != nil
        self.makeQueue = makeQueue
    }

    /// Where events are brought; one of its own is made when it is first needed, which async calls never do.
    var queue: OperationQueue {
        known.withLock { known in
            if let known { return known }
            let queue = makeQueue()
            queue.name = "URLSession delegate queue"
            queue.maxConcurrentOperationCount = 1
            known = queue
            return queue
        }
    }

    /// Puts a client in the line. A client must not be in it twice.
    func schedule(_ client: any RelayClient) { schedule(all: [client]) }

    /// Puts clients in the line, in this order. A client must not be in it twice.
    func schedule(all clients: [any RelayClient]) {
        guard !clients.isEmpty else { return }
        let isFirst = line.withLock { line in
            line.append(clients)
            guard line.operations == 0 else { return false }
            line.operations = 1
            return true
        }
        if isFirst { addOperation() }
        // One operation at most for each.
        for _ in 0..<(isFirst ? clients.count - 1 : clients.count) {
            guard addOperationIfAllowed() else { return }
        }
    }

    /// Runs a closure on the delegate queue, after everything that is in the line now.
    func run(_ work: @escaping @Sendable () -> Void) {
        schedule(ClosureClient(work))
    }

    private func addOperation() { QueueTurn.add(of: self, to: queue) }

    /// An operation has done its work, or never will; what is still in the line gets another.
    private func endTurn() {
        let hasMore = line.withLock { line in
            if line.isEmpty { line.operations -= 1 }
            return !line.isEmpty
        }
        if hasMore { addOperation() }
    }

    /// Whether another call may be made by the same operation: the program cannot tell the difference.
    private func mayGoOn() -> Bool {
        if isGiven { return false }
        let queue = queue
        // The program reaches this one too, by `delegateQueue` or from within a call.
        return queue.operationCount <= line.withLock { $0.operations } && queue.underlyingQueue == nil
            && !queue.isSuspended
    }

    /// Adds an operation beside those under way, if the queue works concurrently.
    private func addOperationIfAllowed() -> Bool {
        let own = queue.maxConcurrentOperationCount
        let limit = own > 0 ? min(own, Self.mostOperations) : Self.mostOperations
        let isAllowed = line.withLock { line in
            guard line.operations < limit, !line.isEmpty else { return false }
            line.operations += 1
            return true
        }
        if isAllowed { addOperation() }
        return isAllowed
    }

    /// Picked by feel: a main queue stays responsive, and the cost of an operation is spread over many clients.
    private static let clientsPerOperation = 64

    /// Picked by feel: enough that a few delegates which block do not stop the others.
    private static let mostOperations = 16
}

extension DelegateRelay: QueueWorker {
    /// One operation's work: clients until the line is empty, or until others on the queue should have a turn.
    func takeTurn(on queue: OperationQueue) {
        for _ in 0..<Self.clientsPerOperation {
            let client = line.withLock { line in
                let client = line.take()
                if client == nil { line.operations -= 1 }
                return client
            }
            guard let client else { return }
            if client.deliver(mayGoOn: mayGoOn) { line.withLock { $0.putBack(client) } }
            guard mayGoOn() else { break }
        }
        endTurn()
    }

    func lostTurn(on queue: OperationQueue) { endTurn() }
}

/// A closure in the line.
private final class ClosureClient: RelayClient {
    private let work: @Sendable () -> Void

    init(_ work: @escaping @Sendable () -> Void) {
        self.work = work
    }

    func deliver(mayGoOn: () -> Bool) -> Bool {
        work()
        return false
    }
}
