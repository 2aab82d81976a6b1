// Digest by the worked examples of RFC 7616, RFC 2617 and RFC 2069, and what becomes of each of its parameters.

import Testing
import URLLoadingPolicy
import URLLoadingTestSupport
import URLLoadingWire

@Suite("Digest")
struct DigestTests {
    private static let nonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"
    private static let opaque = "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
    private static let cnonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"

    private func rig(_ challenge: String, _ credential: PasswordCredential = AuthenticationRig.password) throws
        -> AuthenticationRig
    {
        var rig = try AuthenticationRig()
        #expect(rig.refused(challenge).hasPrefix("ask digest"))
        #expect(rig.answered(.password(credential)) == "send digest")
        return rig
    }

    private func challenge(_ rest: String) -> String {
        "Digest realm=\"http-auth@example.org\", nonce=\"\(Self.nonce)\", opaque=\"\(Self.opaque)\", \(rest)"
    }

    @Test(
        "B2.80, B2.81, B2.83, B2.86: RFC 7616 §3.9.1, by MD5 and by SHA-256",
        arguments: [
            ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        ])
    func exampleOfRFC7616(algorithm: String, response: String) throws {
        let rig = try rig(challenge("qop=\"auth, auth-int\", algorithm=\(algorithm)"))
        #expect(
            rig.field() == """
                Digest username="Mufasa", realm="http-auth@example.org", nonce="\(Self.nonce)", \
                uri="/dir/index.html", response="\(response)", algorithm=\(algorithm), qop=auth, nc=00000001, \
                cnonce="\(Self.cnonce)", opaque="\(Self.opaque)"
                """)
    }

    private static let utf8Challenge = """
        Digest realm="api@example.org", qop="auth", algorithm=SHA-512-256, \
        nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", \
        opaque="HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS", charset=UTF-8
        """

    /// The example of §3.9.2 with the values of its erratum 4897: those in the document are of another function.
    private func utf8Rig(_ challenge: String) throws -> AuthenticationRig {
        var rig = try AuthenticationRig()
        rig.request = AuthenticatedRequest(method: "GET", target: "/doe.json")
        rig.freshness = .fixed("NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v")
        #expect(rig.refused(challenge) == "ask digest api@example.org 0")
        #expect(
            rig.answered(.password(.init(user: "Jäsøn Doe", password: "Secret, or not?"))) == "send digest")
        return rig
    }

    @Test("B2.90, B2.92: RFC 7616 §3.9.2: SHA-512-256, UTF-8, and the user's name as a hash")
    func userHash() throws {
        let parameters = try utf8Rig(Self.utf8Challenge + ", userhash=true").parameters()
        #expect(parameters["username"] == "793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b")
        #expect(parameters["response"] == "3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5")
        #expect(parameters["userhash"] == "true")
        #expect(parameters["algorithm"] == "SHA-512-256")
        #expect(parameters["username*"] == nil)
    }

    @Test("B2.90: RFC 7616 §3.9.2: without userhash a name that is not ASCII is sent percent-encoded")
    func extendedName() throws {
        let parameters = try utf8Rig(Self.utf8Challenge + ", userhash=false").parameters()
        #expect(parameters["username*"] == "UTF-8''J%C3%A4s%C3%B8n%20Doe")
        #expect(parameters["username"] == nil)
        #expect(parameters["userhash"] == nil)
        #expect(parameters["response"] == "3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5")
    }

    @Test("B2.83, B2.86: RFC 2617 §3.5")
    func exampleOfRFC2617() throws {
        var rig = try AuthenticationRig()
        rig.freshness = .fixed("0a4f113b")
        #expect(
            rig.refused(
                """
                Digest realm="testrealm@host.com", qop="auth,auth-int", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", \
                opaque="5ccc069c403ebaf9f0171e9517f40e41"
                """) == "ask digest testrealm@host.com 0")
        #expect(rig.answered(.password(.init(user: "Mufasa", password: "Circle Of Life"))) == "send digest")
        let parameters = try rig.parameters()
        #expect(parameters["response"] == "6629fae49393a05397450978507c4ef1")
        #expect(parameters["nc"] == "00000001")
        #expect(parameters["cnonce"] == "0a4f113b")
        #expect(parameters["opaque"] == "5ccc069c403ebaf9f0171e9517f40e41")
        // It named no algorithm, so neither do we.
        #expect(parameters["algorithm"] == nil)
    }

    @Test("B2.83: without qop the answer is RFC 2069's, with the value of its erratum 749, and has no count")
    func exampleOfRFC2069() throws {
        let rig = try rig(
            "Digest realm=\"testrealm@host.com\", nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\"",
            .init(user: "Mufasa", password: "CircleOfLife"))
        let parameters = try rig.parameters()
        #expect(parameters["response"] == "1949323746fe6a43ef61f9606e7febea")
        for name in ["qop", "nc", "cnonce", "opaque", "algorithm"] { #expect(parameters[name] == nil) }
    }

    @Test(
        "B2.80, B2.81: what -sess derives holds the first nonces of both sides",
        arguments: [
            ("MD5-sess", "e783283f46242139c486a698fec7211d"), ("md5-SESS", "e783283f46242139c486a698fec7211d"),
            ("SHA-256-sess", "2fd51b3a77ad75bad6afad6003e818d767133c46d9e2749e7f5232ae1ea3efd7"),
        ])
    func session(algorithm: String, response: String) throws {
        let rig = try rig(challenge("qop=auth, algorithm=\(algorithm)"))
        #expect(try rig.parameters()["response"] == response)
    }

    @Test("B2.81: a session's secret stays when the server announces another nonce")
    func sessionWithNextNonce() throws {
        var rig = try rig(challenge("qop=auth, algorithm=MD5-sess"))
        var spaces = RememberedSpaces()
        spaces.remember(try rig.acceptance(info: "nextnonce=\"n2\"").authorization, for: rig.request)
        let next = spaces.authorization(for: rig.machine.side, request: rig.request)
        let field = try #require(next?.field(for: rig.request, hashes: .openSSL))
        let parameters = try #require(AuthenticationRig.takenApart(field))
        #expect(parameters["nonce"] == "n2")
        #expect(parameters["nc"] == "00000001")
        #expect(parameters["cnonce"] == Self.cnonce)
        func hash(_ text: String) throws -> String {
            Hexadecimal.text(try #require(HashFunctions.openSSL.hash(.md5, Array(text.utf8))))
        }
        let user = try hash("Mufasa:http-auth@example.org:Circle of Life")
        let secret = try hash("\(user):\(Self.nonce):\(Self.cnonce)")
        let subject = try hash("GET:/dir/index.html")
        let response = try hash("\(secret):n2:00000001:\(Self.cnonce):auth:\(subject)")
        #expect(parameters["response"] == response)
    }

    @Test(
        "B2.81: what comes of the password is hashed anew until a request that went ahead is accepted, and stays the same",
        arguments: ["SHA-256", "SHA-256-sess"])
    func keptSecret(algorithm: String) throws {
        let made = Guarded(0)
        let counting = HashFunctions { algorithm, bytes in
            made.add(1)
            return HashFunctions.openSSL.hash(algorithm, bytes)
        }
        func hash(_ text: String) throws -> String {
            Hexadecimal.text(try #require(HashFunctions.openSSL.hash(.sha256, Array(text.utf8))))
        }
        var spaces = RememberedSpaces()
        // Another password has another secret, under the same challenge too.
        for password in ["Circle of Life", "another"] {
            let mufasa = PasswordCredential(user: "Mufasa", password: password)
            var rig = try rig(challenge("qop=auth, algorithm=\(algorithm)"), mufasa)
            spaces.remember(try rig.acceptance().authorization, for: rig.request)
            var secret = try hash("Mufasa:http-auth@example.org:\(password)")
            if algorithm.hasSuffix("-sess") { secret = try hash("\(secret):\(Self.nonce):\(Self.cnonce)") }
            let subject = try hash("GET:/dir/index.html")
            let whole = algorithm.hasSuffix("-sess") ? 4 : 3
            for (count, hashes) in [(2, whole), (3, 2), (4, 2)] {
                let ahead = spaces.authorization(for: rig.machine.side, request: rig.request)
                let authorization = try #require(ahead)
                made.value = 0
                let field = try #require(authorization.field(for: rig.request, hashes: counting))
                #expect(made.value == hashes, "\(password), request \(count)")
                let response = try hash("\(secret):\(Self.nonce):0000000\(count):\(Self.cnonce):auth:\(subject)")
                #expect(AuthenticationRig.takenApart(field)?["response"] == response)
                var machine = AuthenticationMachine(side: rig.machine.side)
                machine.sentAhead(authorization)
                let acceptance = machine.accepted(.success(), request: rig.request, hashes: counting)
                spaces.remember(try #require(acceptance).authorization, for: rig.request)
            }
        }
    }

    @Test("B2.82: auth-int covers the body; no body is an empty one")
    func bodies() throws {
        var rig = try rig(challenge("qop=\"auth-int\", algorithm=MD5"))
        #expect(rig.sent?.bodyHash(for: rig.request) == nil)
        #expect(try rig.parameters()["response"] == "8804a53d3640a40a4f73cea12c5ba451")
        #expect(try rig.parameters()["qop"] == "auth-int")

        rig.request = AuthenticatedRequest(method: "POST", target: "/dir/index.html", body: .replayable)
        #expect(rig.sent?.bodyHash(for: rig.request) == .md5)
        #expect(rig.field() == nil)
        let hash = MD5.hash("hello".utf8)
        #expect(try rig.parameters(bodyHash: hash)["response"] == "23fef4d928a3e9fa6e0b0de51288c997")
    }

    @Test("B2.84: auth-int is used only when it is all there is and the body can be sent twice")
    func protection() throws {
        var rig = try rig(challenge("qop=\"auth-int,auth\""))
        #expect(try rig.parameters()["qop"] == "auth")
        rig = try AuthenticationRig()
        rig.request = AuthenticatedRequest(method: "POST", target: "/", body: .unrepeatable)
        #expect(rig.refused(challenge("qop=auth-int")) == "deliver")
        #expect(rig.refused(challenge("qop=auth-int"), "Basic realm=x") == "ask basic x 0")
        #expect(rig.refused(challenge("qop=\"auth\"")) == "ask digest http-auth@example.org 0")
    }

    @Test("B2.80: a challenge with an unknown algorithm or qop, or without realm or nonce, is ignored")
    func unusable() throws {
        var rig = try AuthenticationRig()
        for challenge in [
            challenge("algorithm=SHA-1"), challenge("algorithm=\"\""), challenge("qop=\"auth-conf\""),
            challenge("algorithm=MD5-sess"), "Digest realm=\"x\"", "Digest nonce=\"x\"", "Digest", "Digest abc=",
        ] {
            #expect(rig.refused(challenge) == "deliver", "\(challenge)")
            #expect(rig.refused(challenge, "Basic realm=x") == "ask basic x 0", "\(challenge)")
        }
        #expect(rig.refused(challenge("qop=\"\"")) == "ask digest http-auth@example.org 0")
        #expect(rig.refused(challenge("qop=\"token, AUTH\"")) == "ask digest http-auth@example.org 0")
    }

    @Test("B2.85: the URI is the target as sent, for a proxy the authority")
    func targets() throws {
        var rig = try rig(challenge("qop=auth"))
        rig.request = AuthenticatedRequest(method: "CONNECT", target: "server.test:443")
        let tunnel = try rig.parameters()
        #expect(tunnel["uri"] == "server.test:443")
        rig.request = AuthenticatedRequest(method: "GET", target: "/a%20b?c=%2F&d")
        #expect(try rig.parameters()["uri"] == "/a%20b?c=%2F&d")
        #expect(try rig.parameters()["response"] != tunnel["response"])
    }

    @Test("B2.86: quotes and backslashes of names, realms, nonces and opaque values are escaped again")
    func escapes() throws {
        let rig = try rig(
            #"Digest realm="a\"b\\c", nonce="n\"n", opaque="o\\", qop=auth"#,
            .init(user: #"DOMAIN\us"er"#, password: "p"))
        let field = try #require(rig.field())
        #expect(field.contains(#"realm="a\"b\\c""#))
        let parameters = try rig.parameters()
        #expect(parameters["realm"] == #"a"b\c"#)
        #expect(parameters["nonce"] == #"n"n"#)
        #expect(parameters["opaque"] == #"o\"#)
        #expect(parameters["username"] == #"DOMAIN\us"er"#)
    }

    @Test(
        "B2.86: what is not UTF-8 cannot be returned, so that the next challenge counts, and the nonce stays",
        arguments: ["realm=\"é\", nonce=n", "realm=r, nonce=é", "realm=r, nonce=n, opaque=\"é\""])
    func otherBytes(parameters: String) throws {
        var rig = try AuthenticationRig()
        var refusal = ResponseHead(status: 401)
        refusal.fields.append("WWW-Authenticate", latin1: "Digest \(parameters), qop=auth")
        #expect(rig.refused(by: refusal) == "deliver")
        refusal.fields.append(.wwwAuthenticate, "Digest realm=r, nonce=ascii, qop=auth")
        #expect(rig.refused(by: refusal) == "ask digest r 0")
        #expect(rig.answered(.password(AuthenticationRig.password)) == "send digest")

        var success = ResponseHead(status: 200)
        success.fields.append("Authentication-Info", latin1: "nextnonce=\"é\"")
        var spaces = RememberedSpaces()
        let accepted = rig.machine.accepted(success, request: rig.request, hashes: .openSSL)
        spaces.remember(try #require(accepted).authorization, for: rig.request)
        let next = spaces.authorization(for: rig.machine.side, request: rig.request)
        let field = try #require(next?.field(for: rig.request, hashes: .openSSL))
        #expect(AuthenticationRig.takenApart(field)?["nonce"] == "ascii")
    }

    @Test("R9110 §5.5: a user's name cannot bring line ends into the field")
    func injection() throws {
        let rig = try rig(challenge("qop=auth"), .init(user: "a\r\nX: y\0", password: "p"))
        let parameters = try rig.parameters()
        #expect(parameters["username*"] == "UTF-8''a%0D%0AX%3A%20y%00")
        #expect(try #require(rig.field()).utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F })
    }

    @Test("B2.80: where the system has no such hash function there is no field")
    func missingFunction() throws {
        let rig = try rig(challenge("qop=auth, algorithm=SHA-256"))
        let none = HashFunctions { _, _ in nil }
        #expect(rig.sent?.field(for: rig.request, hashes: none) == nil)
        let old = try self.rig(challenge("qop=auth, algorithm=MD5"))
        #expect(old.sent?.field(for: old.request, hashes: none) == old.field())
    }

    // MARK: What the server says afterwards

    @Test("B2.89: rspauth is checked, with our nonce and count where they are repeated")
    func serverProof() throws {
        let right = "rspauth=\"9b712497bc9f91499fbcca1dfc5f09a5\""
        let infos: [(info: String?, isProven: Bool?)] = [
            (nil, nil), ("qop=auth", nil), (right, true), ("qop=auth, \(right), nc=00000001", true),
            ("qop=auth, \(right), nc=00000001, cnonce=\"\(Self.cnonce)\"", true),
            ("rspauth=\"9B712497BC9F91499FBCCA1DFC5F09A5\"", true),
            ("rspauth=\"8ca523f5e9506fed4657c9700eebdbec\"", false), ("rspauth=\"\"", false),
            ("\(right), nc=00000002", false), ("\(right), cnonce=\"other\"", false), ("\(right), qop=auth-int", nil),
        ]
        for (info, isProven) in infos {
            var rig = try rig(challenge("qop=auth, algorithm=MD5"))
            let acceptance = try rig.acceptance(info: info)
            #expect(acceptance.isProven == isProven, "\(info ?? "-")")
            #expect(rig.accepted(info: info) == nil)
        }
    }

    @Test("B2.89: the next nonce of a server that has proven the wrong password is not used")
    func forgedNextNonce() throws {
        var rig = try rig(challenge("qop=auth, algorithm=MD5"))
        let acceptance = try rig.acceptance(info: "nextnonce=evil, rspauth=00")
        #expect(acceptance.isProven == false)
        let field = acceptance.authorization.field(for: rig.request, hashes: .openSSL)
        #expect(field?.contains("evil") == false)
    }
}
