// Delegates that answer challenges, one for each way of implementing the methods, and servers that raise them.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTLS
import URLLoadingTrust

/// The completion handler of a challenge.
typealias ChallengeReply = @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

/// What a delegate does about a challenge.
typealias ChallengeHabit = @Sendable (URLAuthenticationChallenge, @escaping ChallengeReply) -> Void

/// Ready habits.
enum Habit {
    /// Accepts every server, whatever it shows; other challenges go to default handling.
    static let accepts: ChallengeHabit = { challenge, reply in reply(vouch(for: challenge).0, vouch(for: challenge).1) }

    /// Gives this answer to every challenge.
    static func says(
        _ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential? = nil
    ) -> ChallengeHabit {
        { _, reply in reply(disposition, credential) }
    }

    /// Accepts every server, and answers the question for a client certificate so.
    static func forIdentity(
        _ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential? = nil
    ) -> ChallengeHabit {
        { challenge, reply in
            if challenge.isAboutServer { accepts(challenge, reply) } else { reply(disposition, credential) }
        }
    }

    /// The answer that accepts a server.
    static func vouch(
        for challenge: URLAuthenticationChallenge
    ) -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        guard let trust = challenge.protectionSpace.serverTrust else { return (.performDefaultHandling, nil) }
        return (.useCredential, URLCredential(trust: trust))
    }
}

extension URLAuthenticationChallenge {
    var isAboutServer: Bool { protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust }

    /// The kind of the challenge in a word.
    var kind: String { isAboutServer ? "trust" : "identity" }
}

/// Has the session's method only, and is nothing but a session's delegate.
final class SessionJudge: NSObject, URLSessionDelegate {
    let transcript = Transcript()
    let asked = Signal()
    private let habit: ChallengeHabit

    init(_ habit: @escaping ChallengeHabit = Habit.accepts) { self.habit = habit }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        transcript.note("session \(challenge.kind)")
        habit(challenge, completionHandler)
        // Order: a test that has waited for this finds what the habit keeps.
        asked.fire()
    }
}

/// Has the tasks' method only.
final class TaskJudge: NSObject, URLSessionTaskDelegate {
    let transcript = Transcript()
    private let habit: ChallengeHabit

    init(_ habit: @escaping ChallengeHabit = Habit.accepts) { self.habit = habit }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        transcript.note("task \(challenge.kind)")
        habit(challenge, completionHandler)
    }
}

/// Has both methods, and notes every call about its tasks.
final class FullJudge: NSObject, URLSessionDataDelegate {
    let transcript = Transcript()
    let asked = Signal()
    private let habit: ChallengeHabit

    init(_ habit: @escaping ChallengeHabit = Habit.accepts) { self.habit = habit }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        transcript.note("session \(challenge.kind)")
        habit(challenge, completionHandler)
        // Order: a test that has waited for this finds what the habit keeps.
        asked.fire()
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        transcript.note("task \(challenge.kind)")
        habit(challenge, completionHandler)
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        transcript.invalidated.fire()
    }

    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) { transcript.note("created") }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        transcript.note("response")
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transcript.note(data: data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        transcript.note("metrics")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        transcript.note("complete \(Transcript.text(error))")
        transcript.completed.fire()
    }
}

/// Has the session's method in its `async` form.
final class AsyncSessionJudge: NSObject, URLSessionDelegate {
    let transcript = Transcript()

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        transcript.note("async session \(challenge.kind)")
        await Task.yield()
        return Habit.vouch(for: challenge)
    }
}

/// Has the tasks' method in its `async` form.
final class AsyncTaskJudge: NSObject, URLSessionTaskDelegate {
    let transcript = Transcript()

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        transcript.note("async task \(challenge.kind)")
        await Task.yield()
        return Habit.vouch(for: challenge)
    }
}

/// A server for "localhost", and what is needed to talk to it.
struct JudgedServer {
    let server: LoopbackServer
    let root: Certificate
    let url: URL

    /// Settings that trust the server by default, or do not.
    func configuration(trusts: Bool = false) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.hostOverrides = ["localhost": "127.0.0.1"]
        configuration.serverTrustEvaluation = .anchors(pem: trusts ? root.pem : "")
        return configuration
    }

    /// A session with this delegate; by default it would not trust the server.
    func session(_ delegate: (any URLSessionDelegate)?, trusts: Bool = false) -> URLSession {
        URLSession(configuration: configuration(trusts: trusts), delegate: delegate, delegateQueue: nil)
    }

    /// Waits until every connection is closed and says whether the server has seen as much as a byte of a request.
    func sawNothing(connections: Int = 1) async -> Bool {
        let stats = await server.wait { $0.connectionsAccepted >= connections && $0.connectionsOpen == 0 }
        return stats?.bytesReceived == 0 && stats?.requestsBegun == 0
    }
}

/// Runs `body` with a TLS server whose root is not trusted.
func withJudgedServer(
    _ change: (inout ServerTLS) -> Void = { _ in }, uploads: UploadStore? = nil,
    router: @escaping LoopbackServer.Router = { _ in .text("secret") },
    _ body: (JudgedServer) async throws -> Void
) async throws {
    let (root, identity) = try CertificateFactory.server("localhost")
    var tls = ServerTLS(identity: identity)
    change(&tls)
    var options = LoopbackServer.Options(tls: tls)
    options.uploads = uploads
    try await withServer(options, router: router) { server in
        try await body(JudgedServer(server: server, root: root, url: try server.at("/", host: "localhost")))
    }
}

/// An answer after which the server closes the connection.
let oneAnswer: LoopbackServer.Router = { _ in
    var response = ServerResponse.text("secret")
    response.closesConnection = true
    return response
}
