// The hooks that follow a task step by step, and what they are told of its load and of the exchanges that it comes to.
//
// Must not know: connections that serve no request yet (`ConnectionTeller`).

import Foundation
import Synchronization
import URLLoadingEngine
import URLLoadingTrust

/// The hooks of one task: its session's, then its request's.
final class TaskTrace: Sendable {
    typealias Hooks = URLSession.TraceHooks

    private let each: [HeldHooks]
    private let load: Hooks.Load
    private let hasStarted = Atomic<Bool>(false)

    private init(_ each: [HeldHooks], _ load: Hooks.Load) {
        self.each = each
        self.load = load
    }

    /// Nil where nothing follows the task.
    ///
    /// Measured: as an initialiser that may fail it made an object first, and a GET without hooks paid for that.
    static func make(_ session: SharedHooks?, _ new: borrowing NewTask, taskIdentifier: Int) -> TaskTrace? {
        let own = new.request?.values.traceHooks
        // What opens a connection and sends nothing is no load.
        if session == nil && own == nil || new.kind.warmUp != nil { return nil }
        // An array of its own only where both have some.
        let each = if let session, let own { session.each + own.each } else { (session ?? own)?.each ?? [] }
        return TaskTrace(
            each,
            Hooks.Load(taskIdentifier: taskIdentifier, originalRequest: new.request))
    }

    // MARK: The load

    func started() {
        hasStarted.store(true, ordering: .relaxed)
        for held in each { held.hooks.loadStarted?(load) }
    }

    func answeredFromCache() {
        for held in each { held.hooks.loadAnsweredFromCache?(load) }
    }

    func retrying(after failure: URLSession.RetryPolicy.Failure, pause: TimeInterval) {
        for held in each { held.hooks.loadRetrying?(load, failure, pause) }
    }

    /// The task is over. Where it has not come to loading there was no load that could end.
    func finished(_ response: URLResponse?, _ error: (any Error)?) {
        guard hasStarted.load(ordering: .relaxed) else { return }
        for held in each { held.hooks.loadFinished?(load, response, error) }
    }

    // MARK: Exchanges

    private static let lastNumber = Atomic<Int>(0)

    /// An exchange begins; what the engine is to tell of it.
    func begin(_ request: URLRequest, judgedBy evaluator: any TrustEvaluator) -> RequestTrace {
        let number = Self.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
        let exchange = Hooks.Exchange(load: load, number: number, request: request)
        for held in each { held.hooks.exchangeStarted?(exchange) }
        return RequestTrace { [self] in tell($0, of: exchange, judgedBy: evaluator) }
    }

    private func tell(_ step: RequestStep, of exchange: Hooks.Exchange, judgedBy evaluator: any TrustEvaluator) {
        switch step {
        case .assigned(let assignment):
            // Its texts are made for those alone who want them.
            guard each.contains(where: { $0.hooks.connectionAssigned != nil }) else { return }
            let told = Hooks.Assignment(assignment)
            for held in each { held.hooks.connectionAssigned?(exchange, told) }
        case .sent:
            for held in each { held.hooks.requestSent?(exchange) }
        case .answered(let status):
            for held in each { held.hooks.responseReceived?(exchange, status) }
        case .replayed:
            for held in each { held.hooks.exchangeReplayed?(exchange) }
        case .ended(let failure):
            let error = failure.map { ErrorMapping.urlError($0, url: exchange.request.url, evaluator: evaluator) }
            for held in each { held.hooks.exchangeFinished?(exchange, error) }
        }
    }
}

extension URLSession.TraceHooks.Assignment {
    fileprivate init(_ assignment: RequestStep.Assignment) {
        self.init(
            connection: URLSession.TraceHooks.ConnectionID(assignment.connection, ofShard: assignment.shard),
            isReused: assignment.isReused, networkProtocolName: assignment.spoken.name,
            remoteAddress: assignment.remoteAddress?.description)
    }
}

extension URLSession.TraceHooks.ConnectionID {
    /// The pool's connections and those outside it are counted separately, and each shard has counts of its own.
    init(_ name: ConnectionName, ofShard shard: Int) {
        switch name {
        case .pooled(let number): self.init(description: "\(shard).\(number)")
        case .load(let number): self.init(description: "\(shard).load\(number)")
        }
    }
}
