// The server of the sequences in Tests/Vectors/cache.txt: over http and https on two ports, to which every host that a
// URL may name leads, with one answer prepared at a time, and a clock that the sequence sets.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingTestSupport
import URLLoadingTrust
import URLLoadingWire

/// Answers one sequence after the other.
final class SequenceServer: Sendable {
    /// What is answered.
    struct Answer: Sendable {
        var status: Int
        var fields: [ExchangeScript.Field] = []
        var body: [UInt8] = []
        var isComplete = true
        /// How long the server takes.
        var delay: Int64 = 0
    }

    /// The calendar's clock, in seconds since 1970.
    let clock = Guarded<Int64>(ExchangeScript.beginning)
    private let answer = Guarded<Answer?>(nil)
    private let seen = Guarded<[ServerRequest]>([])
    private let plain: LoopbackServer
    private let encrypted: LoopbackServer

    init() throws {
        let identity = try CertificateFactory.root("Sequences").issue(.server("h.example")).identity
        let router = { @Sendable [clock, answer, seen] (request: ServerRequest) in
            seen.change { $0.append(request) }
            let prepared = answer.value ?? Answer(status: 500)
            answer.value = nil
            clock.change { $0 += prepared.delay }
            return Self.message(prepared, to: request)
        }
        plain = try LoopbackServer.start(.init(), router: router)
        encrypted = try LoopbackServer.start(.init(tls: ServerTLS(identity: identity)), router: router)
    }

    func stop() async {
        await plain.stop()
        await encrypted.stop()
    }

    /// What the next request is answered; 500 without anything prepared.
    func prepare(_ answer: Answer?) { self.answer.value = answer }

    /// The requests since the last call.
    func takeRequests() -> [ServerRequest] {
        var requests: [ServerRequest] = []
        seen.change { seen in
            requests = seen
            seen = []
        }
        return requests
    }

    /// A session with a cache, in which this server is every host of the URLs.
    func session(_ cache: URLCache, for urls: [String]) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = cache
        configuration.httpCookieStorage = nil
        for url in urls.compactMap({ URL(string: $0) }) {
            let isEncrypted = url.scheme?.lowercased() == "https"
            let host = (url.host ?? "").trimmingCharacters(in: ["[", "]"])
            configuration.hostOverrides["\(host):\(url.port ?? (isEncrypted ? 443 : 80))"] =
                "127.0.0.1:\(isEncrypted ? encrypted.port : plain.port)"
        }
        configuration.serverTrustEvaluation = .dangerouslyAcceptAnyCertificate
        configuration.wallClock = { [clock] in WallTime(seconds: clock.value) }
        return URLSession(configuration: configuration)
    }

    /// A request to this server.
    func request(_ method: String, _ url: String, _ fields: [ExchangeScript.Field]) throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: url)))
        request.httpMethod = method
        for field in fields { request.addValue(field.value, forHTTPHeaderField: field.name) }
        return request
    }

    /// The message as the sequence has it; only the field that tells the body's length is added.
    private static func message(_ answer: Answer, to request: ServerRequest) -> ServerResponse {
        var lines = ["HTTP/1.1 \(answer.status) Whatever"]
        lines += answer.fields.map { "\($0.name): \($0.value)" }
        func has(_ name: String, _ word: String = "") -> Bool {
            answer.fields.contains { $0.name == name && (word.isEmpty || $0.value.contains(word)) }
        }
        let hasBody = request.method != "HEAD" && ![204, 205, 304].contains(answer.status)
        let body = hasBody ? answer.body : []
        var message = body
        if has("Transfer-Encoding", "chunked") {
            message = Array("\(String(body.count, radix: 16))\r\n".utf8) + body + Array("\r\n0\r\n\r\n".utf8)
        } else if !has("Content-Length"), hasBody || answer.status == 205 {
            lines.append("Content-Length: \(body.count + (answer.isComplete ? 0 : 100))")
        }
        let bytes = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + message
        guard answer.isComplete, !has("Connection", "close") else { return .script([.send(bytes), .close]) }
        return .encoded(bytes)
    }
}
