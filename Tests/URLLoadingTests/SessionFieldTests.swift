// Which of a session's additional fields a redirect sends on (behaviour B4.27).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport
import URLLoadingTrust
import URLLoadingWire

@Suite("Fields of a session on redirects", .endsSessions)
struct SessionFieldTests {
    private static let secrets = [
        "Authorization": "Bearer all", "Cookie": "all=1", "X-API-Key": "all", "X-Auth-Token": "all",
        "X-Vault-Token": "all", "apikey": "all", "Cookie2": "all",
    ]

    /// The session's fields that came with each request, as `a` or `a+secrets`.
    private final class Record: Sendable {
        let lines = Guarded<[String]>([])

        func note(_ name: String, _ request: ServerRequest) {
            let held = SessionFieldTests.secrets.keys.filter { request.fields.contains(FieldName($0)) }
            let kept = request.fields.first("X-Session") == "kept"
            let isWhole = held.count == SessionFieldTests.secrets.count
            let text = isWhole ? "+secrets" : held.isEmpty ? "" : "+\(held.sorted())"
            lines.change { $0.append(name + text + (kept ? "" : " without")) }
        }
    }

    /// Redirects `/to?URL` there, and answers everything else.
    private static func router(_ name: String, _ record: Record) -> LoopbackServer.Router {
        { request in
            record.note(name, request)
            guard request.path == "/to", let target = request.query?.removingPercentEncoding else {
                return .text("end")
            }
            return ServerResponse.status(307).adding("Location", target)
        }
    }

    private static func set(_ configuration: URLSessionConfiguration) {
        configuration.httpAdditionalHeaders = secrets.merging(["X-Session": "kept"]) { $1 }
        configuration.hostOverrides = ["a.test": "127.0.0.1", "b.test": "127.0.0.1", "localhost": "127.0.0.1"]
    }

    private func to(_ url: URL) -> String {
        "/to?" + (url.absoluteString.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
    }

    @Test("B4.27: secret fields of a session are sent only to the host and port where the task began")
    func origins() async throws {
        let record = Record()
        try await withServer(router: Self.router("a", record)) { first in
            try await withServer(router: Self.router("b", record)) { second in
                let session = visitor(nil, Self.set)
                let (a, b) = (try first.at("/", host: "a.test"), try second.at("/", host: "a.test"))
                let again = try second.at(to(a), host: "a.test")
                let named = try first.at("/", host: "b.test")
                let same = try first.at("/end", host: "a.test")
                for target in [b, again, named, same] {
                    _ = try await session.data(from: first.at(to(target), host: "a.test"))
                }
                #expect(
                    record.lines.value == [
                        "a+secrets", "b", "a+secrets", "b", "a+secrets", "a+secrets", "a", "a+secrets", "a+secrets",
                    ])
                record.lines.change { $0 = [] }
                var upload = URLRequest(url: try first.at(to(b), host: "a.test"))
                upload.httpMethod = "PUT"
                _ = try await session.upload(for: upload, from: Data("body".utf8))
                let (file, _) = try await session.download(from: first.at(to(b), host: "a.test"))
                try FileManager.default.removeItem(at: file)
                #expect(record.lines.value == ["a+secrets", "b", "a+secrets", "b"])
            }
        }
    }

    @Test("B4.27: secret fields of a session are not sent on from https to http, or from http to https")
    func schemes() async throws {
        let record = Record()
        let identity = try TrustSamples.intermediate.get().issue(.server("localhost")).identity
        let options = LoopbackServer.Options(tls: ServerTLS(identity: identity))
        let anchor = try TrustSamples.root.get().certificate.pem
        try await withServer(options, router: Self.router("tls", record)) { secure in
            try await withServer(router: Self.router("plain", record)) { plain in
                let session = visitor(nil) {
                    Self.set($0)
                    $0.serverTrustEvaluation = .anchors(pem: anchor)
                }
                let (https, http) = (try secure.at("/", host: "localhost"), try plain.at("/", host: "localhost"))
                _ = try await session.data(from: secure.at(to(http), host: "localhost"))
                _ = try await session.data(from: plain.at(to(https), host: "localhost"))
                #expect(record.lines.value == ["tls+secrets", "plain", "plain+secrets", "tls"])
            }
        }
    }

    @Test("B4.27: a delegate's own request for a redirect to another origin gets no secret field of the session")
    func delegates() async throws {
        let record = Record()
        try await withServer(router: Self.router("a", record)) { first in
            try await withServer(router: Self.router("b", record)) { second in
                let other = URLRequest(url: try second.at("/own"))
                let delegate = RecordingDelegate(onRedirect: { $1(other) })
                let session = visitor(delegate, Self.set)
                let task = session.dataTask(with: try first.at(to(first.at("/end"))))
                task.resume()
                await delegate.transcript.completed.wait()
                #expect(record.lines.value == ["a+secrets", "b"])
            }
        }
    }

    @Test("B4.27, B14.39: a custom protocol class sees no secret field of the session for another origin")
    func classes() async throws {
        let seen = Guarded<[String]>([])
        let script = ProtocolScript { held in
            let fields = held.request.allHTTPHeaderFields ?? [:]
            let text = fields["Authorization"] == nil ? "" : "+secrets"
            seen.change { $0.append((held.request.url?.path ?? "") + text + (fields["X-Session"] ?? "")) }
            held.answer("")
        }
        let record = Record()
        try await withServer(router: Self.router("a", record)) { first in
            let session = protocolSession(nil, [ScriptedProtocol.self], Self.set)
            _ = try await session.data(from: first.at(to(script.url("/x"))))
            #expect(record.lines.value == ["a+secrets"] && seen.value == ["/xkept"])
            _ = try await session.data(from: script.url("/y"))
            #expect(seen.value == ["/xkept", "/y+secretskept"])
        }
    }
}
