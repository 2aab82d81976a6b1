// What a session sends ahead of challenges, where, and when it stops.

import Testing
import URLLoadingPolicy
import URLLoadingWire

@Suite("Remembered spaces")
struct RememberedSpacesTests {
    private static let password = AuthenticationRig.password

    private var spaces = RememberedSpaces()
    private let side: AuthenticationSide

    init() throws {
        side = .server(try AuthenticationRig.origin())
    }

    private func request(_ target: String, _ body: AuthenticatedRequest.Body = .empty) -> AuthenticatedRequest {
        AuthenticatedRequest(method: "GET", target: target, body: body)
    }

    /// Lets a request be refused once and accepted, and remembers that.
    private mutating func prove(
        _ challenge: String, at target: String, on other: AuthenticationSide? = nil,
        as credential: PasswordCredential = RememberedSpacesTests.password, info: String? = nil
    ) throws {
        var rig = AuthenticationRig(other ?? side)
        rig.request = request(target)
        #expect(rig.refused(challenge).hasPrefix("ask"))
        #expect(rig.answered(.password(credential)).hasPrefix("send"))
        var head = ResponseHead.success()
        if let info { head.fields.append(rig.machine.side.infoField, info) }
        let acceptance = rig.machine.accepted(head, request: rig.request, hashes: .openSSL)
        spaces.remember(try #require(acceptance).authorization, for: rig.request)
    }

    /// What is sent with a request for the top.
    private mutating func ahead() throws -> Authorization {
        let authorization = spaces.authorization(for: side, request: request("/"))
        return try #require(authorization)
    }

    /// What would be sent with a request: the scheme, and for Digest its nonce and count.
    private mutating func sent(_ target: String, on other: AuthenticationSide? = nil) -> String? {
        let request = request(target)
        guard let authorization = spaces.authorization(for: other ?? side, request: request),
            let field = authorization.field(for: request, hashes: .openSSL),
            let parts = AuthenticationRig.takenApart(field)
        else { return nil }
        guard let nonce = parts["nonce"] else { return "\(parts.scheme) \(authorization.space.realm ?? "-")" }
        return "\(nonce) \(parts["nc"] ?? "-")"
    }

    // MARK: Basic

    @Test("B2.77: Basic is sent ahead at and below the directory of the path that was accepted, and nowhere else")
    func directory() throws {
        var test = self
        try test.prove("Basic realm=x", at: "/docs/a/index.html?query=/z/")
        for inside in [
            "/docs/a/", "/docs/a/index.html", "/docs/a/b/c", "/docs/a/?x", "/docs/a/...", "/docs/a/.../b",
            "/docs/a/..b", "/docs/a/b..", "/docs/a/.%2x/", "/docs/a/%2e.%2E", "/docs/a/b%2e.", "/docs/a/?/../",
        ] {
            #expect(test.sent(inside) == "basic x", "\(inside)")
        }
        for outside in ["/docs/a", "/docs/ab/", "/docs/", "/", "/Docs/a/", "*", "", "/docs?/docs/a/"] {
            #expect(test.sent(outside) == nil, "\(outside)")
        }
    }

    @Test(
        "B2.77: a path that climbs out of the directory is not in it",
        arguments: [
            "/docs/../secret", "/docs/./../secret", "/docs/%2e%2E/secret", "/docs/.%2e", "/docs/.", "/docs/a/..",
            "/docs/%/../../secret", "/docs/%2/../../secret", "/docs/a/../?x",
        ])
    func climbing(target: String) throws {
        var test = self
        try test.prove("Basic realm=x", at: "/docs/")
        #expect(test.sent("/docs/secret") == "basic x")
        #expect(test.sent(target) == nil)
        // Nor does a success there tell where it was.
        test = self
        try test.prove("Basic realm=x", at: target)
        #expect(test.sent("/docs/a") == nil)
    }

    @Test("B2.77: a success at the top covers all of the origin, and no other origin")
    func wholeOrigin() throws {
        var test = self
        try test.prove("Basic realm=x", at: "/index.html")
        #expect(test.sent("/a/b") == "basic x")
        #expect(test.sent("/a/../b") == "basic x")
        for origin in [
            try AuthenticationRig.origin("other.test"), try AuthenticationRig.origin(scheme: .http),
            try #require(Origin(scheme: .https, host: "server.test", port: 8443)),
        ] {
            #expect(test.sent("/a", on: .server(origin)) == nil)
        }
    }

    @Test("B2.77: of several spaces the one whose directory is nearest is sent, and directories of one realm add up")
    func nearest() throws {
        var test = self
        try test.prove("Basic realm=outer", at: "/a/x")
        try test.prove("Basic realm=inner", at: "/a/b/x")
        try test.prove("Basic realm=outer", at: "/c/x")
        #expect(test.sent("/a/y") == "basic outer")
        #expect(test.sent("/a/b/y") == "basic inner")
        #expect(test.sent("/c/y") == "basic outer")
        try test.prove("Basic realm=outer", at: "/x")
        #expect(test.sent("/a/b/y") == "basic inner")
        #expect(test.sent("/z") == "basic outer")
    }

    @Test("B2.77: a target in absolute form has its path")
    func absoluteForm() throws {
        var test = self
        try test.prove("Basic realm=x", at: "http://server.test/a/b")
        #expect(test.sent("http://server.test/a/c?d") == "basic x")
        #expect(test.sent("http://server.test/b") == nil)
        #expect(test.sent("/a/") == "basic x")
        try test.prove("Basic realm=top", at: "http://server.test")
        #expect(test.sent("http://server.test/b") == "basic top")
    }

    @Test(
        "B2.77: for a user who is named nothing of another's is sent, nor of the same one's with another password",
        arguments: [
            ("me", nil, true), ("me", "p", true), ("me", "q", false), ("you", nil, false), ("you", "p", false),
            ("", nil, false),
        ] as [(String, String?, Bool)])
    func named(user: String, password: String?, isSent: Bool) throws {
        var test = self
        try test.prove("Basic realm=x", at: "/", as: .init(user: "me", password: "p"))
        try test.prove("Basic realm=y", at: "/deeper/", as: .init(user: "he", password: "p"))
        let (asked, named) = (request("/deeper/x"), NamedUser(user: user, password: password))
        #expect((test.spaces.known(for: side, request: asked, as: named) != nil) == isSent)
        let sent = test.spaces.authorization(for: side, request: asked, as: named)
        #expect(sent?.credential?.user == (isSent ? "me" : nil))
    }

    @Test("B2.78: what was refused is forgotten, but not what another task has proven meanwhile")
    func forgetting() throws {
        var test = self
        try test.prove("Basic realm=x", at: "/")
        let old = try test.ahead()
        #expect(old.isAhead)
        try test.prove("Basic realm=x", at: "/", as: .init(user: "new", password: "new"))
        test.spaces.forget(old)
        let new = try test.ahead()
        #expect(new.credential?.user == "new")
        test.spaces.forget(new)
        #expect(test.sent("/") == nil)
        // A late success with the forgotten credential does not bring it back.
        test.spaces.remember(new, for: request("/"))
        #expect(test.sent("/") == nil)
        test.spaces.forget(new)
    }

    @Test("B2.78: a refusal of what was sent ahead is failure 1, and the machine proposes that credential")
    func refusedAhead() throws {
        var test = self
        try test.prove("Basic realm=x", at: "/")
        var rig = AuthenticationRig(side)
        rig.machine.sentAhead(try test.ahead())
        #expect(rig.refused("Basic realm=x") == "ask basic x 1")
        #expect(rig.machine.rejected == Self.password)
        rig = AuthenticationRig(side)
        rig.machine.sentAhead(try test.ahead())
        #expect(rig.refused("Basic realm=y") == "ask basic y 0")
    }

    // MARK: Digest

    @Test("B2.87: the count begins at 1 for each nonce and grows with each request")
    func counts() throws {
        var test = self
        try test.prove("Digest realm=x, nonce=n1, qop=auth", at: "/a/b")
        #expect(test.sent("/a/b") == "n1 00000002")
        #expect(test.sent("/elsewhere") == "n1 00000003")
        for _ in 4..<16 { _ = test.sent("/") }
        #expect(test.sent("/") == "n1 00000010")
        try test.prove("Digest realm=x, nonce=n2, qop=auth", at: "/")
        #expect(test.sent("/") == "n2 00000002")
        // Another task, with a refusal of its own, proves nonce n2 once more: the count does not go back.
        _ = test.sent("/")
        try test.prove("Digest realm=x, nonce=n2, qop=auth", at: "/")
        #expect(test.sent("/") == "n2 00000004")
    }

    @Test("B2.83: without qop there is no count to be kept")
    func withoutCount() throws {
        var test = self
        try test.prove("Digest realm=x, nonce=n1", at: "/")
        #expect(test.sent("/") == "n1 -")
        #expect(test.sent("/") == "n1 -")
    }

    @Test("B2.89: the next nonce takes the place of the nonce, and its count begins at 1")
    func nextNonce() throws {
        var test = self
        try test.prove("Digest realm=x, nonce=n1, qop=auth", at: "/", info: "nextnonce=\"n2\"")
        #expect(test.sent("/") == "n2 00000001")

        // Two requests are under way; each answer brings a nonce.
        let machines = try (0..<2).map { _ in
            var machine = AuthenticationMachine(side: side)
            machine.sentAhead(try test.ahead())
            return machine
        }
        for (index, var machine) in machines.enumerated() {
            let head = ResponseHead.success(info: "nextnonce=m\(index)")
            let acceptance = machine.accepted(head, request: request("/"), hashes: .openSSL)
            test.spaces.remember(try #require(acceptance).authorization, for: request("/"))
            #expect(test.sent("/") == "m\(index) 00000001")
        }
    }

    @Test("B2.87: a late answer to an older nonce does not bring the older nonce back")
    func lateAnswers() throws {
        var test = self
        try test.prove("Digest realm=x, nonce=n1, qop=auth", at: "/")
        let late = try test.ahead()
        try test.prove("Digest realm=x, nonce=n2, qop=auth", at: "/")
        test.spaces.remember(late, for: request("/"))
        #expect(test.sent("/") == "n2 00000002")
    }

    @Test("B2.88: a stale nonce that was sent ahead is replaced without a question")
    func staleAhead() throws {
        var test = self
        try test.prove("Digest realm=x, nonce=n1, qop=auth", at: "/")
        var rig = AuthenticationRig(side)
        rig.machine.sentAhead(try test.ahead())
        #expect(rig.refused("Digest realm=x, nonce=n2, qop=auth, stale=true") == "send digest")
        test.spaces.remember(try rig.acceptance().authorization, for: rig.request)
        #expect(test.sent("/") == "n2 00000002")
    }

    @Test(
        "B2.91: the domain lists the paths of the space, absolute or relative; what it says of other servers is ignored"
    )
    func domain() throws {
        var test = self
        try test.prove(
            """
            Digest realm=x, nonce=n, domain="/a https://server.test/b/ https://SERVER.test:443/c?d https://evil.test/e \
            http://server.test/f //server.test/g relative /h/../i", qop=auth
            """, at: "/a")
        for inside in ["/a", "/a?x", "/a/b", "/b/", "/b/x", "/c", "/c/x", "/g"] {
            #expect(test.sent(inside)?.hasPrefix("n ") == true, "\(inside)")
        }
        for outside in ["/", "/ab", "/b", "/e", "/f", "/relative", "/i", "/h/../i", "/a/../z"] {
            #expect(test.sent(outside) == nil, "\(outside)")
        }
        let evil = AuthenticationSide.server(try AuthenticationRig.origin("evil.test"))
        #expect(test.sent("/e", on: evil) == nil)
    }

    @Test("B2.91: a domain of other servers only leaves nothing to be sent ahead; an empty one is the whole origin")
    func otherDomains() throws {
        var test = self
        try test.prove("Digest realm=x, nonce=n, domain=\"https://evil.test/\", qop=auth", at: "/a")
        #expect(test.sent("/a") == nil)
        try test.prove("Digest realm=x, nonce=n2, domain=\"\", qop=auth", at: "/a")
        #expect(test.sent("/b") == "n2 00000002")
    }

    @Test("B2.84: auth-int is not sent ahead with a body that can be read only once")
    func bodies() throws {
        var test = self
        try test.prove("Digest realm=x, nonce=n, qop=auth-int", at: "/")
        #expect(test.spaces.authorization(for: side, request: request("/", .unrepeatable)) == nil)
        let authorization = test.spaces.authorization(for: side, request: request("/", .replayable))
        #expect(authorization?.bodyHash(for: request("/", .replayable)) == .md5)
    }

    // MARK: Proxies, connections, limits

    @Test("B2.91, B2.100: a proxy has one space for all requests, and its domain is ignored")
    func proxies() throws {
        var test = self
        let proxy = AuthenticationSide.proxy(try #require(ProxyServer(kind: .http, host: "proxy.test", port: 3128)))
        #expect(proxy.refusal == 407)
        #expect(proxy.authorizationField == .proxyAuthorization)
        try test.prove("Digest realm=x, nonce=n, domain=\"/a\", qop=auth", at: "server.test:443", on: proxy)
        #expect(test.sent("other.test:443", on: proxy) == "n 00000002")
        #expect(test.sent("http://third.test/x/../y", on: proxy) == "n 00000003")
        #expect(test.sent("/a") == nil)
        test = self
        try test.prove("Basic realm=p", at: "http://server.test/deep/path", on: proxy)
        #expect(test.sent("other.test:443", on: proxy) == "basic p")
        try test.prove("Digest realm=q, nonce=n", at: "a.test:1", on: proxy, info: "nextnonce=m")
        #expect(test.sent("b.test:1", on: proxy) == "m -")
    }

    @Test("B2.93: what belongs to a connection is not remembered")
    func connections() throws {
        var test = self
        for challenge in ["NTLM", "Negotiate"] {
            var rig = AuthenticationRig(side, usesTicketUnasked: true)
            _ = rig.refused(challenge)
            #expect(rig.answered(challenge == "NTLM" ? .password(Self.password) : .token("YQ==")).hasPrefix("send"))
            test.spaces.remember(try rig.acceptance().authorization, for: rig.request)
        }
        #expect(test.sent("/dir/index.html") == nil)
    }

    @Test("B2.107: a credential given in advance is sent with the first request, and stays while others are learnt")
    func given() throws {
        var test = self
        test.spaces.give(Self.password, to: side, from: "/given/x?y")
        #expect(test.sent("/given/") == "basic -" && test.sent("/given/a/b") == "basic -" && test.sent("/") == nil)
        for number in 0..<300 {
            try test.prove("Basic realm=x", at: "/", on: .server(try AuthenticationRig.origin("s\(number).test")))
        }
        for number in 0..<40 { try test.prove("Basic realm=r\(number)", at: "/\(number)/") }
        #expect(test.sent("/given/") == "basic -" && test.sent("/39/") == "basic r39" && test.sent("/23/") == nil)
        let sent = test.spaces.authorization(for: side, request: request("/given/"))
        let ahead = try #require(sent)
        #expect(ahead.isAhead)
        test.spaces.forget(ahead)
        #expect(test.sent("/given/") == nil && test.sent("/39/") == "basic r39")
    }

    @Test("B2.77: servers, realms and directories are remembered in bounded numbers, the latest of them")
    func limits() throws {
        var test = self
        for number in 0..<300 {
            let origin = try AuthenticationRig.origin("s\(number).test")
            try test.prove("Basic realm=x", at: "/", on: .server(origin))
        }
        #expect(test.sent("/", on: .server(try AuthenticationRig.origin("s43.test"))) == nil)
        #expect(test.sent("/", on: .server(try AuthenticationRig.origin("s44.test"))) == "basic x")
        for number in 0..<40 { try test.prove("Basic realm=r\(number)", at: "/\(number)/") }
        #expect(test.sent("/23/") == nil)
        #expect(test.sent("/24/") == "basic r24")
        for number in 0..<100 { try test.prove("Basic realm=one", at: "/d\(number)/") }
        #expect(test.sent("/d35/") == nil)
        #expect(test.sent("/d36/") == "basic one")
        #expect(test.sent("/d99/") == "basic one")
    }

    @Test("B2.77: of too many directories those that were used long ago give way, but none that the program has named")
    func directoriesInUse() throws {
        var test = self
        for number in 0..<64 { try test.prove("Basic realm=x", at: "/d\(number)/") }
        let request = request("/d0/a")
        let ahead = test.spaces.authorization(for: side, request: request)
        test.spaces.remember(try #require(ahead), for: request)
        for number in 64..<70 { try test.prove("Basic realm=x", at: "/d\(number)/") }
        #expect(test.sent("/d0/") == "basic x" && test.sent("/d7/") == "basic x" && test.sent("/d69/") == "basic x")
        for number in 1..<7 { #expect(test.sent("/d\(number)/") == nil) }

        test = self
        for directory in ["/a/", "/b/"] { test.spaces.give(Self.password, to: side, from: directory) }
        for number in 0..<200 {
            let request = self.request("/b/\(number)/")
            let ahead = test.spaces.authorization(for: side, request: request)
            test.spaces.remember(try #require(ahead), for: request)
        }
        for target in ["/a/", "/b/", "/b/0/", "/b/99/"] { #expect(test.sent(target) == "basic -") }
    }
}
