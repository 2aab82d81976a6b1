// Hops that are no HTTP transactions. Their carrier is found before (`HopPreparation+Classes`,
// `HopPreparation+Scheme`).
//
// Must not know: how a carrier gets what it reports, bytes.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem

extension TaskHops {
    /// Lets a carrier load the hop. Most know only wholes, and nothing of time; those from inside do. `reroutable` is
    /// the hop where it has another way to go when this one leads nowhere.
    func carry(
        _ request: URLRequest, by carrier: any SchemeCarrier, cache: CachePart? = nil, fromInside: Bool = false,
        reroutable: ReroutableHop? = nil
    ) {
        guard let session = task.session else { return }
        if task.savesFile, !fromInside { task.download.beginAtBeginning() }
        let sessionView = tellingView
        let load = task.driver.beginExchange { state in
            state.spend(exchange(&state.cachePart, with: cache))
            state.spend(exchange(&state.reroutable, with: reroutable))
            state.sentFields = nil
            // A stored redirect may have led here.
            state.isAnswerStored = false
            return SchemeLoad(
                request, HopAnswer(task: task, plan: plan(of: state, sessionView)), by: carrier,
                limits: SchemeLoad.Limits(
                    idle: fromInside ? nil : session.settings.idleTimeout(request), deadline: state.resourceDeadline))
        }
        guard let load else { return task.driver.endUnloaded(LoadFailure.cancelled(request.url)) }
        task.driver.tellExchangeOfSuspension()
        load.begin()
    }
}
