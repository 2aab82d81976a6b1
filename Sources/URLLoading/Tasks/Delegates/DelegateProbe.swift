// Learns which optional methods a delegate has.
//
// Swift protocols on Linux have no optional methods, so every method has a default. The loader arms the task's probe,
// calls the method, and looks whether the default ran: if so the delegate has no such method and the next candidate
// is asked (B1.95). For the methods that wait for an answer the outcome is remembered per type, so that a delegate
// without `didReceive response` never makes a response wait. That a type has no method for metrics
// is remembered too, and then no metrics are made for it.

import Synchronization

/// A method of the task-level delegates, as a probe names it.
enum DelegateMethod: UInt8 {
    case createTask = 1
    case redirect
    case redirectAsync
    case bodyStream
    case bodyStreamAsync
    case bodyStreamFrom
    case bodyStreamFromAsync
    case sendBodyData
    case informationalResponse
    case metrics
    case complete
    case response
    case responseAsync
    case data
    case writeData
    case waiting
    case delayed
    case delayedAsync
    case sessionChallenge
    case sessionChallengeAsync
    case taskChallenge
    case taskChallengeAsync
    case storing
    case storingAsync
    case resumeAtOffset
    case becomeDownload
    case becomeStream
    case readClosed
    case writeClosed
    case betterRoute
    case becameStreams
    case openedWebSocket
    case closedWebSocket
}

/// Tells one call of the loader whether a default implementation ran. Belongs to a task, whose calls never overlap.
struct DelegateProbe: ~Copyable, Sendable {
    /// 0 when idle, a method's number while it is being called, and its negative once its default has run.
    private let state = Atomic<Int16>(0)
    /// The delegate that was called last. Its method may call the same method of another delegate, whose default says
    /// nothing about the first.
    private let called = Atomic<ObjectIdentifier?>(nil)

    /// Called by the loader before it calls a delegate.
    func arm(_ method: DelegateMethod, of delegate: any URLSessionDelegate) {
        called.store(ObjectIdentifier(delegate), ordering: .relaxed)
        state.store(Int16(method.rawValue), ordering: .releasing)
    }

    /// Called by the loader afterwards: whether the delegate has the method.
    func disarm() -> Bool {
        state.exchange(0, ordering: .acquiringAndReleasing) >= 0
    }

    /// Called by the defaults of `delegate`. `true` if the loader has called, which will ask elsewhere; `false` if
    /// other code has, which must be answered.
    @discardableResult
    func noteMissing(_ method: DelegateMethod, of delegate: any URLSessionDelegate) -> Bool {
        guard called.load(ordering: .relaxed) == ObjectIdentifier(delegate) else { return false }
        let number = Int16(method.rawValue)
        return state.compareExchange(expected: number, desired: -number, ordering: .acquiringAndReleasing).exchanged
    }
}
