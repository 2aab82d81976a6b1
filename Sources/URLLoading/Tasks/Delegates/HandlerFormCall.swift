// The form with a handler of a delegate's method, asked by the default of its `async` form: some other code than the
// loader has called, as a delegate does that hands its calls on. On Apple's platforms both forms are one method, and
// either reaches it.
//
// The default of the handler's form asks the `async` form in turn, so a delegate with neither would be asked in a
// circle. What runs within such a call is therefore known, and a call within itself is not made.
//
// Must not know: what is asked.

import Synchronization

/// A call of a delegate's method that stands in for another one which the delegate does not have.
final class HandlerFormCall: Sendable {
    /// The call that the code which runs here is a part of.
    @TaskLocal private static var current: HandlerFormCall?

    private let method: DelegateMethod
    private let delegate: ObjectIdentifier
    private let task: ObjectIdentifier?
    /// The call around this one.
    private let outer: HandlerFormCall?
    private let isMissing = Atomic<Bool>(false)
    private let isOver = Atomic<Bool>(false)

    /// Nil within a call of the same delegate about the same: it would ask itself.
    init?(_ method: DelegateMethod, of delegate: any URLSessionDelegate, about task: TaskCore?) {
        self.method = method
        self.delegate = ObjectIdentifier(delegate)
        self.task = task.map { ObjectIdentifier($0) }
        outer = Self.current?.firstOpen
        var around = outer
        while let call = around {
            if call.method == method, call.delegate == self.delegate, call.task == self.task { return nil }
            around = call.outer?.firstOpen
        }
    }

    /// This call, or the next around it that is not over: a Swift task that was begun within a call may outlive it.
    private var firstOpen: HandlerFormCall? { isOver.load(ordering: .acquiring) ? outer?.firstOpen : self }

    /// Runs `body` as a part of this call.
    func run<Answer: Sendable>(_ body: () async -> Answer) async -> Answer {
        defer { end() }
        return await Self.$current.withValue(self, operation: body)
    }

    fileprivate func end() { isOver.store(true, ordering: .releasing) }

    /// What the delegate's form with a handler answers; nil where it has none, or asks itself.
    ///
    /// A handler that is let go of uncalled is no answer: the task waits on, as it does for one that is kept (B1.32).
    /// Where the question is over, or there is none, the call returns `unanswered`.
    static func ask<Answer: Sendable>(
        _ method: DelegateMethod, of delegate: any URLSessionDelegate, about task: TaskCore?, unanswered: Answer,
        _ body: (_ reply: @escaping @Sendable (Answer) -> Void) -> Void
    ) async -> Answer? {
        guard let call = HandlerFormCall(method, of: delegate, about: task) else { return nil }
        return await withUnsafeContinuation { (continuation: UnsafeContinuation<Answer?, Never>) in
            let reply = HandlerFormReply(to: call, continuation, unanswered: unanswered)
            let handle = HandlerFormReply.Handle(reply: reply, task: task)
            $current.withValue(call) { body { handle.reply.give($0) } }
            // Order: before the handle goes, which was not called.
            if call.isMissing.load(ordering: .acquiring) { reply.give(nil) }
            withExtendedLifetime(handle) {}
        }
    }

    /// Called by the default of a handler's form: whether the default of the `async` form has called, which answers.
    static func noteMissing(_ method: DelegateMethod, of delegate: any URLSessionDelegate) -> Bool {
        guard let call = current, call.method == method, call.delegate == ObjectIdentifier(delegate),
            !call.isOver.load(ordering: .acquiring)
        else { return false }
        call.isMissing.store(true, ordering: .releasing)
        return true
    }
}

/// An `async` call that waits for a handler to be called.
private final class HandlerFormReply<Answer: Sendable>: Sendable {
    /// What the handler holds.
    final class Handle: Sendable {
        let reply: HandlerFormReply
        private let task: TaskCore?

        init(reply: HandlerFormReply, task: TaskCore?) {
            self.reply = reply
            self.task = task
        }

        /// Order: in the task's list it stands behind the question, which stays open.
        deinit {
            if !reply.isGiven.load(ordering: .acquiring) { task?.delivery.post(.unanswered(reply)) }
        }
    }

    private let call: HandlerFormCall
    private let continuation: UnsafeContinuation<Answer?, Never>
    private let unanswered: Answer
    private let isGiven = Atomic<Bool>(false)

    init(to call: HandlerFormCall, _ continuation: UnsafeContinuation<Answer?, Never>, unanswered: Answer) {
        self.call = call
        self.continuation = continuation
        self.unanswered = unanswered
    }

    deinit {
        if !isGiven.load(ordering: .acquiring) { give(unanswered) }
    }

    func give(_ answer: Answer?) {
        guard !isGiven.exchange(true, ordering: .acquiringAndReleasing) else { return ErrorText.reportSecondAnswer() }
        call.end()
        continuation.resume(returning: answer)
    }
}

extension TaskCore {
    /// Called by the defaults of forms with a handler. `true` if the loader or the default of the `async` form has
    /// called, which asks elsewhere or answers; `false` if other code has, which must be answered.
    func noteMissingHandlerForm(_ method: DelegateMethod, of delegate: any URLSessionDelegate) -> Bool {
        probe.noteMissing(method, of: delegate) || HandlerFormCall.noteMissing(method, of: delegate)
    }
}
