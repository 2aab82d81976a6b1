// One request as the engine takes it: values only, ready to be sent.
//
// Must not know: URL, URLRequest, tasks, Foundation.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

/// Everything the engine needs to carry out one request.
package struct TransactionRequest: Sendable {
    /// Where the request goes.
    package var origin: Origin
    /// How it gets there.
    package var route: Route
    /// Method, target and fields; the framing fields are added from `framing`.
    package var head: RequestHead
    /// The content.
    package var body: RequestBody
    /// How the content is delimited.
    package var framing: BodyFraming
    /// Longest wait without a byte moving (B6.1); `nil` for none.
    package var idleTimeout: Duration?
    /// When the whole transfer must have ended (B6.5), as `LoopClock` counts time; `nil` for never.
    package var resourceDeadline: Duration?
    /// Order among requests that wait for a connection (B1.53), 0 to 1; what servers are told (H2.11).
    package var priority: Float
    /// Whether the receiver can use a part of the answer before the rest: told to servers together
    /// with the priority (H2.11).
    package var isIncremental = true
    /// Whether content codings are undone before the receiver sees the body.
    package var decodesContent: Bool
    /// Whether it waits for the network instead of failing when there is no way to the host (B6.15).
    package var waitsForConnectivity: Bool
    /// What is known of its earlier sending, if there was one.
    package var again: SecondSending?
    /// The request after which a connection was kept for this one (`TransactionHandle.keepConnection()`).
    package var continues: RequestID?
    /// Whether it asks for another protocol (RFC 9110 §7.8): a 101 is then a final response, whose connection the
    /// receiver takes (`DetachedConnection`). On a route through a proxy that one tunnels always
    /// (`ProxyServer.tunnelsAlways`).
    package var isUpgrade = false
    /// Where it is to open a connection and sends nothing: how many unused ones of its kind are
    /// wanted, that one included.
    package var warms: Int?
    /// Whose judgement its connection stands by; it uses none that has another judge.
    package var judge = ConnectionJudge.session
    /// The observer that follows the request step by step.
    package var trace: RequestTrace?
    /// Makes the receiver, once, on the loop: what it holds is confined there and needs no lock.
    package var makeReceiver: @Sendable (TransactionHandle, Reactor) -> any TransactionReceiver

    /// Makes a request from its parts.
    package init(
        origin: Origin, route: Route = .direct(), head: RequestHead, body: RequestBody = .none,
        framing: BodyFraming = .none,
        idleTimeout: Duration? = .seconds(60), resourceDeadline: Duration? = nil,
        priority: Float = 0.5, decodesContent: Bool = true, waitsForConnectivity: Bool = false,
        again: SecondSending? = nil, continues: RequestID? = nil, trace: RequestTrace? = nil,
        makeReceiver: @escaping @Sendable (TransactionHandle, Reactor) -> any TransactionReceiver
    ) {
        self.origin = origin
        self.route = route
        self.head = head
        self.body = body
        self.framing = framing
        self.idleTimeout = idleTimeout
        self.resourceDeadline = resourceDeadline
        self.priority = priority
        self.decodesContent = decodesContent
        self.waitsForConnectivity = waitsForConnectivity
        self.again = again
        self.continues = continues
        self.trace = trace
        self.makeReceiver = makeReceiver
    }

    /// The head where it does not go out as it is: without Expect for a server that does not know it, and for a proxy
    /// that forwards it with a target that names the origin (RFC 9112 §3.2.2).
    func wireHead(withoutExpectation: Bool, absoluteTarget: Bool) -> RequestHead {
        var head = head
        if withoutExpectation { head.fields.removeAll(.expect) }
        guard absoluteTarget else { return head }
        if head.target == "*" {
            // RFC 9112 §3.2.4: the last proxy makes an asterisk of it again.
            head.target = "\(origin.scheme.name)://\(origin.hostField)"
        } else if head.target.utf8.first == UInt8(ascii: "/") {
            head.target = "\(origin.scheme.name)://\(origin.hostField)\(head.target)"
        }
        return head
    }
}
