// Credentials that a configuration sends ahead of every challenge, and where they do not go.

import Foundation
import Testing
import URLLoadingLoopbackServer

@testable import URLLoading

@Suite("Basic, sent ahead", .endsSessions, .timeLimit(.minutes(5)))
struct BasicSentAheadTests {
    /// A session that sends u and p ahead from each of the URLs on, also in clear.
    private func known(
        _ urls: [URL], _ delegate: (any URLSessionDelegate)? = nil, _ password: String = "p",
        inClear: Bool = true
    ) -> URLSession {
        visitor(delegate, storage: nil) {
            for url in urls { $0.basicCredentialsSentAhead[url] = URLCredential("u", password, .none) }
            $0.dangerouslySendsBasicAheadInClear = inClear
        }
    }

    @Test(
        "B2.107: the first request bears the credential at and below the URL's directory, and elsewhere there is none")
    func first() async throws {
        let visits = Visits()
        try await withServer(router: door("r", ["u": "p"], visits)) { server async throws in
            let session = known([try server.at("/v1/start?x")])
            for path in ["/v1/", "/v1/a/b?c"] { #expect(try await session.visit(server.at(path)) == "200 secret") }
            for path in ["/v1", "/", "/v10/", "/v1/../v2/"] {
                #expect(try await session.visit(server.at(path)) == "401 denied", "\(path)")
            }
            let proof = basic("u", "p")
            #expect(visits.lines.prefix(2) == ["GET /v1/ \(proof)", "GET /v1/a/b?c \(proof)"])
            #expect(visits.lines.dropFirst(2).allSatisfy { !$0.contains("Basic") } && visits.count == 6)
        }
    }

    @Test("B2.107: over plain http nothing is sent ahead unless that is set; over TLS it is")
    func clear() async throws {
        let visits = Visits()
        try await withServer(router: door("r", ["u": "p"], visits)) { server async throws in
            #expect(try await known([server.at("/")], inClear: false).visit(server.at("/")) == "401 denied")
            #expect(visits.lines == ["GET /"])
        }
        let (root, identity) = try CertificateFactory.server("localhost")
        let secure = Visits()
        try await withServer(
            .init(tls: ServerTLS(identity: identity)), router: door("r", ["u": "p"], secure)
        ) { server async throws in
            let url = try server.at("/", host: "localhost")
            let session = visitor {
                $0.basicCredentialsSentAhead = [url: URLCredential("u", "p", .none)]
                $0.serverTrustEvaluation = .anchors(pem: root.pem)
            }
            #expect(try await session.visit(url) == "200 secret")
            #expect(secure.lines == ["GET / \(basic("u", "p"))"])
        }
    }

    @Test(
        "B2.107: another host, another port and a redirect to one get no credential; a redirect within the server does")
    func elsewhere() async throws {
        let (visits, others) = (Visits(), Visits())
        try await withServer(router: door("r", ["u": "p"], others)) { other async throws in
            let away = try other.at("/end").absoluteString
            let router = door("r", ["u": "p"], visits) { request in
                switch request.path {
                case "/away": ServerResponse.status(302).adding("Location", away)
                case "/within": ServerResponse.status(302).adding("Location", "/end")
                default: .text("secret")
                }
            }
            try await withServer(router: router) { server async throws in
                let session = known([try server.at("/")])
                #expect(try await session.visit(server.at("/away")) == "401 denied")
                #expect(try await session.visit(server.at("/within")) == "200 secret")
                #expect(try await session.visit(server.at("/", host: "localhost")) == "401 denied")
                #expect(others.lines == ["GET /end"])
                #expect(visits.lines.filter { !$0.contains("Basic") } == ["GET /"])
            }
        }
    }

    @Test("B2.107, B2.78: a credential that is refused counts as the first failure and is not sent again, until reset")
    func refused() async throws {
        let visits = Visits()
        try await withServer(router: door("r", ["u": "new"], visits)) { server async throws in
            let delegate = GuestDelegate(
                Guest.inTurn((.useCredential, URLCredential("u", "new")), (.performDefaultHandling, nil)))
            let session = known([try server.at("/")], delegate)
            #expect(try await session.visit(server.at("/a/")) == "200 secret")
            #expect(delegate.transcript.calls == ["task HTTPBasic r 1 u/p 401"])
            let (old, new) = (basic("u", "p"), basic("u", "new"))
            #expect(visits.lines == ["GET /a/ \(old)", "GET /a/ \(new)"])
            // A credential that the server has accepted is sent ahead where it was accepted, and nowhere else.
            #expect(try await session.visit(server.at("/a/")) == "200 secret")
            #expect(try await session.visit(server.at("/")) == "401 denied")
            #expect(visits.lines.dropFirst(2) == ["GET /a/ \(new)", "GET /"])
            await session.reset()
            _ = try await session.visit(server.at("/"))
            #expect(visits.lines[4] == "GET / \(old)")
        }
    }

    @Test("B2.107: the deepest directory counts, and the request's own field goes out in any case")
    func choice() async throws {
        let visits = Visits()
        try await withServer(router: {
            visits.note($0); return .text("open")
        }) { server async throws in
            let session = visitor {
                $0.basicCredentialsSentAhead = [
                    (try? server.at("/"))!: URLCredential("all", "p", .none),
                    (try? server.at("/deep/"))!: URLCredential("deep", "p", .none),
                ]
                $0.dangerouslySendsBasicAheadInClear = true
            }
            _ = try await session.visit(server.at("/deep/x"))
            _ = try await session.visit(server.at("/x"))
            var request = URLRequest(url: try server.at("/deep/x"))
            request.setValue("Token own", forHTTPHeaderField: "Authorization")
            _ = try await session.visit(request)
            #expect(
                visits.lines == [
                    "GET /deep/x \(basic("deep", "p"))", "GET /x \(basic("all", "p"))", "GET /deep/x Token own",
                ])
        }
    }

    @Test(
        "B2.107, B2.77: a URL that names another user goes out without the credential, one that names its user with it")
    func anotherUser() async throws {
        let visits = Visits()
        try await withServer(router: door("r", ["u": "p", "v": "q"], visits)) { server async throws in
            let session = known([try server.at("/")])
            #expect(try await session.visit(server.at("/a/x").naming("v:q")) == "200 secret")
            #expect(try await session.visit(server.at("/").naming("u")) == "200 secret")
            #expect(visits.lines == ["GET /a/x", "GET /a/x \(basic("v", "q"))", "GET / \(basic("u", "p"))"])
        }
    }

    @Test("B2.107: a credential that Basic cannot send, or a URL that is not http or https, has no effect")
    func useless() throws {
        let good = URLCredential("u", "p", .none)
        let entries: [(String, URLCredential)] = [
            ("ftp://a.test/", good), ("a.test", good), ("https:", good), ("http://a.test/", good),
            ("https://a.test/1/", URLCredential("u:v", "p", .none)), ("https://a.test/2/", .kerberosTicket),
            ("https://a.test/3/", good),
        ]
        var values = ConfigurationValues()
        for (text, credential) in entries {
            values.basicCredentialsSentAhead[try #require(URL(string: text))] = credential
        }
        let given = CredentialsGivenAhead(values).entries
        #expect(given.map(\.target) == ["/3/"])
        #expect(!"\(given) \(CredentialsGivenAhead(values))".contains("p\""), "nothing of it is printed")
    }
}
