// Servers that ask for a password, and delegates that answer for them.

import Foundation
import Testing
import URLLoading
import URLLoadingEngine
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingWire

// MARK: Servers

/// The value of Authorization for Basic.
func basic(_ user: String, _ password: String) -> String {
    "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
}

extension ServerResponse {
    /// 401 with these challenges, each in a field of its own.
    static func denied(_ challenges: String...) -> ServerResponse {
        challenges.reduce(.text("denied", status: 401)) { $0.adding("WWW-Authenticate", $1) }
    }

    /// 407 likewise.
    static func deniedByProxy(_ challenges: String...) -> ServerResponse {
        challenges.reduce(.text("no way", status: 407)) { $0.adding("Proxy-Authenticate", $1) }
    }
}

/// What a server has been asked, in order.
final class Visits: Sendable {
    private let seen = Guarded<[String]>([])

    /// Notes method, target and proof of a request.
    func note(_ request: ServerRequest, _ field: FieldName = .authorization) {
        let proof = request.fields.first(field).map { " \($0)" } ?? ""
        seen.change { $0.append("\(request.method) \(request.target)\(proof)") }
    }

    func note(_ line: String) { seen.change { $0.append(line) } }

    var lines: [String] { seen.value }
    var count: Int { seen.value.count }
}

/// Lets in requests with one of these passwords.
func door(
    _ realm: String = "r", _ users: [String: String] = ["u": "p"], _ visits: Visits = Visits(),
    inside: @escaping LoopbackServer.Router = { _ in .text("secret") }
) -> LoopbackServer.Router {
    let keys = Set(users.map { basic($0.key, $0.value) })
    return { request in
        visits.note(request)
        guard let proof = request.fields.first(.authorization), keys.contains(proof) else {
            return .denied("Basic realm=\"\(realm)\"")
        }
        return inside(request)
    }
}

/// Lets in requests that prove by Digest that they know the password.
struct DigestDoor: Sendable {
    let nonce = Guarded("n1")
    let counts = Guarded<[String]>([])
    var user = "u"
    var password = "p"

    /// The challenge of this door.
    var challenge: String { "Digest realm=\"r\", nonce=\"\(nonce.value)\", qop=\"auth\"" }

    /// Whether the request proves it; notes its nonce and count.
    func opens(to request: ServerRequest) -> Bool {
        guard let proof = request.fields.challenges(.authorization).first, proof.scheme == "digest",
            let uri = proof["uri"], let count = proof["nc"], let own = proof["cnonce"], let qop = proof["qop"]
        else { return false }
        counts.change { $0.append("\(proof["nonce"] ?? "") \(count)") }
        let body = qop == "auth-int" ? ":" + Self.md5(request.body) : ""
        let secret = Self.md5("\(user):r:\(password)")
        let subject = Self.md5("\(request.method):\(request.target)\(body)")
        return proof["username"] == user && proof["nonce"] == nonce.value && uri == request.target
            && proof["response"] == Self.md5("\(secret):\(nonce.value):\(count):\(own):\(qop):\(subject)")
    }

    static func md5(_ text: String) -> String { md5(Array(text.utf8)) }

    static func md5(_ bytes: [UInt8]) -> String {
        (HashFunctions.system.hash(.md5, bytes) ?? []).map { String(format: "%02x", $0) }.joined()
    }
}

/// Lets in a client that has gone through NTLM's messages on its connection.
final class NTLMDoor: Sendable {
    private enum Stage { case challenged, open }

    /// What a client hears.
    enum Verdict {
        case open
        case denied(challenge: String, closes: Bool)
    }

    let visits = Visits()
    private let stages = Guarded<[Int: Stage]>([:])
    /// How many connections end with the second message.
    private let closings: Int

    init(closings: Int = 0) { self.closings = closings }

    /// The number of the message that a request brings, or a dash.
    static func kind(of request: ServerRequest) -> String { kind(of: request.fields.first(.authorization)) }

    private static func kind(of proof: String?) -> String {
        let message = proof.flatMap { Data(base64Encoded: String($0.dropFirst("NTLM ".count))) }.map { [UInt8]($0) }
        return message.flatMap { $0.count > 8 ? $0[8] : nil }.map { "\($0)" } ?? "-"
    }

    /// What becomes of a request for `path` that bears a proof, or none, on a connection.
    func verdict(on path: String, _ proof: String?, connection: Int) -> Verdict {
        let kind = Self.kind(of: proof)
        visits.note("\(path) \(kind) on \(connection)")
        let stage = stages.withLock { $0[connection] }
        switch (kind, stage) {
        case ("1", _):
            stages.withLock { $0[connection] = .challenged }
            let challenge = "NTLM \(Data(Self.challenge).base64EncodedString())"
            return .denied(challenge: challenge, closes: stages.value.count <= closings)
        case ("3", .challenged):
            stages.withLock { $0[connection] = .open }
            return .open
        case ("-", .open): return .open
        default: return .denied(challenge: "NTLM", closes: false)
        }
    }

    func answer(_ request: ServerRequest) -> ServerResponse {
        let proof = request.fields.first(.authorization)
        switch verdict(on: String(request.path), proof, connection: request.connection) {
        case .open: return .echo(request)
        case .denied(let challenge, let closes):
            let denied = ServerResponse.denied(challenge)
            return closes ? denied.closing() : denied
        }
    }

    /// The same for a proxy's tunnels.
    func answer(_ ask: LoopbackProxy.Ask) -> LoopbackProxy.Answer {
        let proof = ask.head?.fields.first(.proxyAuthorization)
        switch verdict(on: "CONNECT", proof, connection: ask.connection) {
        case .open: return .relay
        case .denied(let challenge, let closes):
            let head = "HTTP/1.1 407 x\r\nProxy-Authenticate: \(challenge)\r\nContent-Length: 0\r\n"
            return .text(head + (closes ? "Connection: close\r\n\r\n" : "\r\n"), thenClose: closes)
        }
    }

    /// The second message (MS-NLMP §2.2.1.2): Unicode, NTLM and a list about the target, which is empty.
    private static let challenge: [UInt8] =
        Array("NTLMSSP\0".utf8) + [2, 0, 0, 0] + [UInt8](repeating: 0, count: 8) + [0x01, 0x02, 0x80, 0x00]
        + [1, 2, 3, 4, 5, 6, 7, 8] + [UInt8](repeating: 0, count: 8) + [4, 0, 4, 0, 48, 0, 0, 0] + [0, 0, 0, 0]
}

// MARK: Sessions

/// A session with a storage of its own, or none, for a test that says `.endsSessions`.
func visitor(
    _ delegate: (any URLSessionDelegate)? = nil, storage: URLCredentialStorage? = URLCredentialStorage(),
    _ change: (URLSessionConfiguration) -> Void = { _ in }
) -> URLSession {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCredentialStorage = storage
    configuration.connectionProxyDictionary = [:]
    change(configuration)
    let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    GuestBook.sign(session)
    return session
}

extension URLSession {
    /// Status and body of a load.
    func visit(_ url: URL, delegate: (any URLSessionTaskDelegate)? = nil) async throws -> String {
        try await visit(URLRequest(url: url), delegate: delegate)
    }

    func visit(_ request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil) async throws -> String {
        let (data, response) = try await data(for: request, delegate: delegate)
        return "\((response as? HTTPURLResponse)?.statusCode ?? 0) \(String(decoding: data, as: UTF8.self))"
    }
}

extension URL {
    /// The URL with a user and, if wanted, a password, percent-encoded already.
    func naming(_ user: String) throws -> URL {
        try #require(URL(string: absoluteString.replacingOccurrences(of: "://", with: "://\(user)@")))
    }
}

extension URLCredential {
    /// A credential that the session's storage keeps as long as it lives.
    convenience init(_ user: String, _ password: String, _ persistence: URLCredential.Persistence = .forSession) {
        self.init(user: user, password: password, persistence: persistence)
    }
}

// MARK: Delegates

/// What a guest does about a challenge.
typealias GuestHabit = @Sendable (URLAuthenticationChallenge) -> (URLSession.AuthChallengeDisposition, URLCredential?)

/// Ready habits.
enum Guest {
    /// Answers the first question with this, and gives up after that.
    static func once(_ user: String, _ password: String) -> GuestHabit {
        { challenge in
            challenge.previousFailureCount == 0
                ? (.useCredential, URLCredential(user, password)) : (.performDefaultHandling, nil)
        }
    }

    /// Gives this answer to every question.
    static func always(
        _ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential? = nil
    ) -> GuestHabit {
        { _ in (disposition, credential) }
    }

    /// Gives the answers one after the other, the last one again and again.
    static func inTurn(_ answers: (URLSession.AuthChallengeDisposition, URLCredential?)...) -> GuestHabit {
        let left = Guarded(answers[...])
        return { _ in
            var answer: (URLSession.AuthChallengeDisposition, URLCredential?) = (.performDefaultHandling, nil)
            left.change { left in
                if let first = left.first { answer = first }
                if left.count > 1 { left.removeFirst() }
            }
            return answer
        }
    }
}

extension URLAuthenticationChallenge {
    /// The challenge in a line: method, realm, failures, proposal, status.
    var line: String {
        let method = protectionSpace.authenticationMethod.replacingOccurrences(
            of: "NSURLAuthenticationMethod", with: "")
        let proposal =
            proposedCredential.map { "\($0.user ?? "?")/\($0.hasPassword ? $0.password ?? "?" : "-")" } ?? "nobody"
        let status = (failureResponse as? HTTPURLResponse).map { "\($0.statusCode)" } ?? "no response"
        return "\(method) \(protectionSpace.realm ?? "-") \(previousFailureCount) \(proposal) \(status)"
    }
}

/// Has both methods, writes down everything that tasks are told, and answers through a habit.
final class GuestDelegate: NSObject, URLSessionDataDelegate {
    let transcript = Transcript()
    let asked = Signal()
    let challenges = Guarded<[URLAuthenticationChallenge]>([])
    let metrics = Guarded<URLSessionTaskMetrics?>(nil)
    private let name: String
    private let habit: GuestHabit?
    private let streams: (@Sendable () -> InputStream?)?

    /// Without a habit it never answers.
    init(_ habit: GuestHabit?, name: String = "", streams: (@Sendable () -> InputStream?)? = nil) {
        self.habit = habit
        self.name = name
        self.streams = streams
    }

    private func ask(_ method: String, _ challenge: URLAuthenticationChallenge, _ reply: ChallengeReply) {
        transcript.note("\(name)\(method) \(challenge.line)")
        challenges.change { $0.append(challenge) }
        asked.fire()
        guard let habit else { return }
        let (disposition, credential) = habit(challenge)
        reply(disposition, credential)
    }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        ask("session", challenge, completionHandler)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        ask("task", challenge, completionHandler)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        transcript.note("stream")
        completionHandler(streams?())
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        transcript.note("sent \(bytesSent) \(totalBytesSent) \(totalBytesExpectedToSend)")
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        transcript.note("response \((response as? HTTPURLResponse)?.statusCode ?? 0)")
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transcript.note(data: data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        self.metrics.value = metrics
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        transcript.note("complete \(Transcript.text(error))")
        transcript.completed.fire()
    }
}

/// Has the session's method only.
final class SessionOnlyGuest: NSObject, URLSessionDelegate {
    let transcript = Transcript()

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        transcript.note("session \(challenge.line)")
        completionHandler(.useCredential, URLCredential("u", "p"))
    }
}

/// Has the tasks' method only, in its `async` form.
final class AsyncGuest: NSObject, URLSessionTaskDelegate {
    let transcript = Transcript()

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        transcript.note("async task \(challenge.line)")
        await Task.yield()
        return (.useCredential, URLCredential("u", "p"))
    }
}
