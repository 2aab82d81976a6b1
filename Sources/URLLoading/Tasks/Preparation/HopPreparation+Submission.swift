// The last step: the engine gets the hop, unless the task was cancelled meanwhile.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy

extension HopPreparation {
    /// Submits the hop by its way; there may be others for when that does not lead anywhere.
    mutating func submit() -> Step? {
        let session = session
        let reroutable = hop.otherRoutes.isEmpty ? nil : ReroutableHop(hop)
        let (route, webSocket) = (hop.route, hop.webSocket)
        guard let message = hop.message.take() else { return end(LoadFailure.cancelled(request.url)) }
        let plan = task.driver.submit { state -> SubmissionPlan in
            state.spend(exchange(&state.reroutable, with: reroutable))
            state.isAnswerStored = false
            state.handshake = webSocket
            state.sentFields = message.shownFields
            defer { state.lostSending = nil }
            return SubmissionPlan(
                deadline: state.resourceDeadline, priority: state.priority,
                isIncremental: state.hints.prefersIncrementalDelivery, again: state.lostSending?.again,
                continues: state.takeKept(), isAuthenticating: state.isAuthenticating)
        }
        guard let plan else { return end(LoadFailure.cancelled(request.url)) }
        let isUpgrade = webSocket != nil
        let task = task
        var transaction = TransactionRequest(
            origin: message.origin, route: isUpgrade ? route.tunnelling : route, head: message.head, body: message.body,
            framing: message.framing,
            idleTimeout: session.settings.idleTimeout(request), resourceDeadline: plan.deadline,
            priority: TaskSettings.usable(plan.priority), decodesContent: true,
            waitsForConnectivity: session.settings.waitsForConnectivity, again: plan.again,
            continues: plan.continues, trace: makeTrace(),
            makeReceiver: { task.hops.begin($0, on: $1) })
        transaction.isUpgrade = isUpgrade
        transaction.isIncremental = plan.isIncremental
        transaction.judge = task.trust.judge(ofConnectionTo: message.origin, by: route)
        let engine = task.engine ?? session.engine
        if task.kindName == .warmUp {
            transaction.warms = task.kind.warmUp?.wanted
            engine.submit(consume transaction)
        } else if plan.isAuthenticating || session.authentication.remembersAny {
            submitProven(transaction, to: engine)
        } else {
            engine.submit(consume transaction)
        }
        return nil
    }

    /// The trace that follows the hop.
    private func makeTrace() -> RequestTrace? {
        task.trace?.begin(request, judgedBy: session.settings.evaluator)
    }
}

/// What a submission to the engine takes from the task's state.
private struct SubmissionPlan: Sendable {
    let deadline: Duration?
    let priority: Float
    let isIncremental: Bool
    let again: SecondSending?
    let continues: RequestID?
    let isAuthenticating: Bool
}
