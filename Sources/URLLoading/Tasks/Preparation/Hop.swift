// A hop that is written down, as it can be sent by one way or another.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy

/// A request as it is sent, and what is sent with it.
struct Hop: Sendable {
    var message: RequestBuilder.Message
    let content: HopContent
}

/// The ways that a hop has left. A class, because every task has room for one, and hardly any has one.
final class Detour: Sendable {
    let request: URLRequest
    let hop: Hop
    let routes: ArraySlice<Route>

    init(of request: URLRequest, _ hop: Hop, by routes: ArraySlice<Route>) {
        self.request = request
        self.hop = hop
        self.routes = routes
    }
}

extension TaskState {
    /// The ways that are left after this failure; nil where there are none, or where another way would not help.
    mutating func takeDetour(after failure: EngineError) -> Detour? {
        defer { self.detour = nil }
        guard let detour, failure.isOfTheWay, detour.hop.content.isUntouched else { return nil }
        return detour
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
