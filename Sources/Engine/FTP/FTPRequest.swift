// One FTP transfer as the engine takes it, and what its submitter is told: values, and the seam to
// the receiver of the data.
//
// Must not know: URL, URLRequest, tasks, Foundation, HTTP.

import URLLoadingPolicy
import URLLoadingSystem

/// Everything the engine needs to carry out one FTP transfer.
package struct FTPRequest: Sendable {
    /// Host and port of the server. Its scheme is not looked at.
    package var server: Origin
    /// How the server is reached: by the first way that leads there, data connections too. That is straight
    /// there, or through a SOCKS proxy; a proxy that speaks HTTP is asked by HTTP requests instead
    /// (B13.32), and leads nowhere here.
    package var routes: [Route]
    /// What is to be done.
    package var job: FTPJob
    /// What is stored; nothing for everything else.
    package var body: RequestBody
    /// How much of the body is stored; nil for all there is of it.
    package var bodyLength: Int64?
    /// Whether it waits for the network instead of failing when there is no way to the server (B6.15).
    package var waitsForConnectivity = false
    /// Longest wait without a byte moving (B6.1); `nil` for none.
    package var idleTimeout: Duration?
    /// When the whole transfer must have ended (B6.5), as `LoopClock` counts time; `nil` for never.
    package var resourceDeadline: Duration?
    /// Makes the receiver, once, on the loop: what it holds is confined there and needs no lock.
    package var makeReceiver: @Sendable (FTPHandle, Reactor) -> any FTPReceiver

    /// Makes a request from its parts.
    package init(
        server: Origin, routes: [Route] = [.direct()], job: FTPJob, body: RequestBody = .none, bodyLength: Int64? = nil,
        idleTimeout: Duration? = .seconds(60), resourceDeadline: Duration? = nil,
        makeReceiver: @escaping @Sendable (FTPHandle, Reactor) -> any FTPReceiver
    ) {
        self.server = server
        self.routes = routes
        self.job = job
        self.body = body
        self.bodyLength = bodyLength
        self.idleTimeout = idleTimeout
        self.resourceDeadline = resourceDeadline
        self.makeReceiver = makeReceiver
    }
}

extension FTPRequest {
    /// The ways by which FTP itself can go.
    var usableRoutes: [Route] {
        routes.filter { route in
            guard let proxy = route.proxy else { return true }
            return !proxy.kind.isHTTP && proxy.path == nil
        }
    }
}

/// Takes in what arrives for one FTP transfer, in order; every call comes on the loop's thread.
package protocol FTPReceiver: AnyObject {
    /// Whether `asked(_: ConnectionQuestion)` gets an answer about certificates.
    var answersQuestions: Bool { get }

    /// Whether a proxy's question for a name and a password finds an answer. If not, such a proxy opens nothing.
    var answersProxies: Bool { get }

    /// The connection cannot be opened or protected without an answer, as for transactions (B2.9).
    /// Until then no idle time runs.
    func asked(_ question: ConnectionQuestion)

    /// The user name and password are not known, or so many answers were refused; `FTPHandle.answer` goes on (B14.21).
    /// Until then no idle time runs.
    func askedForCredential(refusals: Int)

    /// There is no way to the server, and the transfer waits for one (B6.16). Until then no idle time runs.
    func waitsForConnectivity()

    /// Data begins to flow.
    func received(head: FTPHead) -> ReceiverDemand

    /// The next bytes; they are valid during the call, or longer where the piece is kept.
    func received(body piece: BodyPiece) -> ReceiverDemand

    /// So many bytes of the request's body have been taken by the socket.
    func sent(bodyBytes: Int64)

    /// Something moved on one of the connections.
    func moved()

    /// The end: exactly once, and last; an error or nil.
    func finished(_ error: EngineError?)
}

extension FTPReceiver {
    /// No.
    package var answersQuestions: Bool { false }

    /// As about servers.
    package var answersProxies: Bool { answersQuestions }

    /// Does nothing: it is not called.
    package func asked(_ question: ConnectionQuestion) {}

    /// Does nothing.
    package func moved() {}

    /// Does nothing.
    package func waitsForConnectivity() {}
}
