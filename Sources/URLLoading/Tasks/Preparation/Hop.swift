// What is known of a hop before it is on its way. Values only: a hop does not keep its task alive.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy

/// A request of a task, and what was found out about its sending.
struct Hop: Sendable {
    let request: URLRequest
    /// Where the body comes from.
    let body: TaskBody
    /// What the request is sent with.
    var content = HopContent.none
    var cookies = HopCookies.none
    /// The request as it is sent, once it is written down.
    var message: RequestBuilder.Message?
    /// What is asked for in place of a response.
    var webSocket: WebSocketHop?
    var route = Route.direct()
    /// The ways that are left where that one leads nowhere.
    var otherRoutes: ArraySlice<Route> = []

    init(request: URLRequest, body: TaskBody) {
        self.request = request
        self.body = body
    }
}

/// A hop that can be sent by another way. A class, because every task has room for one, and hardly any has one.
final class ReroutableHop: Sendable {
    let hop: Hop

    init(_ hop: Hop) { self.hop = hop }
}

extension TaskState {
    /// The ways that are left after this failure; nil where there are none, or where another way would not help.
    mutating func takeReroutableHop(after failure: EngineError) -> ReroutableHop? {
        guard let hop = reroutable.take() else { return nil }
        // What was withheld from one proxy would be missing on the next way.
        let isWhole = !isAuthenticating || !authentication.withholdsBody
        if failure.isOfTheWay, isWhole, hop.hop.content.isUntouched { return hop }
        spend(hop)
        return nil
    }
}

extension HopContent {
    /// Whether it can be sent from its beginning.
    fileprivate var isUntouched: Bool {
        switch self {
        case .none, .data, .file, .section: true
        case .stream(let source): source.isUntouched
        }
    }
}
