// The rounds of a task: what is asked, sent and delivered after each refusal.

import Testing
import URLLoadingPolicy
import URLLoadingWire

@Suite("Authentication machine")
struct AuthenticationMachineTests {
    private static let password = AuthenticationRig.password
    private static let other = PasswordCredential(user: "Scar", password: "Be prepared")

    private func digest(_ nonce: String = "n", realm: String = "x", _ rest: String = "qop=auth") -> String {
        "Digest realm=\"\(realm)\", nonce=\"\(nonce)\", \(rest)"
    }

    // MARK: What is offered

    @Test("B2.12: a refusal without a challenge that can be answered is delivered")
    func nothingUsable() throws {
        var rig = try AuthenticationRig()
        #expect(rig.refused() == "deliver")
        for challenge in ["", "Bearer realm=x", "Basic realm=\"x", "DPoP algs=\"x\"", "Digest realm=x"] {
            #expect(rig.refused(challenge) == "deliver", "\(challenge)")
        }
        // An answer without a question asks nothing.
        #expect(rig.answered(.password(Self.password)) == "deliver")
        #expect(rig.accepted() == nil)
    }

    @Test("B2.31: the strongest scheme comes first, in whatever order the server lists them")
    func order() throws {
        let challenges = ["Basic realm=x", digest(), "NTLM", "Negotiate"]
        for shift in challenges.indices {
            var rig = try AuthenticationRig()
            let list = challenges[shift...] + challenges[..<shift]
            #expect(rig.refused(list.joined(separator: ", ")) == "ask negotiate - 0")
            #expect(rig.answered(.reject) == "ask ntlm - 0")
            #expect(rig.answered(.reject) == "ask digest x 0")
            #expect(rig.answered(.reject) == "ask basic x 0")
            #expect(rig.answered(.reject) == "deliver")
        }
    }

    @Test("B2.31: of several Digest challenges of a realm the server's first that is known is used")
    func severalDigests() throws {
        var rig = try AuthenticationRig()
        #expect(
            rig.refused(
                digest("a", "qop=auth, algorithm=SHA-1024"), digest("b", "qop=auth, algorithm=SHA-256"),
                digest("c", "qop=auth, algorithm=MD5")) == "ask digest x 0")
        #expect(rig.answered(.password(Self.password)) == "send digest")
        #expect(try rig.parameters()["nonce"] == "b")
    }

    @Test("B2.32: each realm is a space of its own and is offered once")
    func realms() throws {
        var rig = try AuthenticationRig()
        #expect(rig.refused("Basic realm=a, Basic realm=b", "Basic realm=a", "Basic realm=A") == "ask basic a 0")
        #expect(rig.answered(.reject) == "ask basic b 0")
        #expect(rig.answered(.none) == "ask basic A 0")
        #expect(rig.answered(.none) == "deliver")
    }

    @Test("B2.30: a Basic challenge without realm has the host's name as its realm, and an empty realm is one")
    func missingRealm() throws {
        var rig = try AuthenticationRig()
        #expect(rig.refused("Basic") == "ask basic server.test 0")
        #expect(rig.refused("Basic charset=\"UTF-8\"") == "ask basic server.test 0")
        #expect(rig.refused("Basic realm=\"\"") == "ask basic  0")
    }

    @Test("B2.12: only schemes that are allowed are offered")
    func allowed() throws {
        var rig = AuthenticationRig(.server(try AuthenticationRig.origin()), allows: [.basic, .digest])
        #expect(rig.refused("Negotiate, NTLM", digest(), "Basic realm=x") == "ask digest x 0")
        rig = AuthenticationRig(.server(try AuthenticationRig.origin()), allows: [])
        #expect(rig.refused("Negotiate, NTLM", digest(), "Basic realm=x") == "deliver")
    }

    @Test("B2.32: a refusal with thousands of realms offers a bounded number of them")
    func manyRealms() throws {
        var rig = try AuthenticationRig()
        var told = rig.refused((0..<5000).map { "Basic realm=r\($0)" }.joined(separator: ","))
        var count = 0
        while told != "deliver" {
            count += 1
            told = rig.answered(.none)
        }
        #expect(count == 16)
    }

    // MARK: Answers

    @Test("B2.76: Basic is the base64 of user and password in UTF-8")
    func basic() throws {
        let examples = [
            ("Aladdin", "open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
            ("test", "123£", "Basic dGVzdDoxMjPCow=="),
            ("", "", "Basic Og=="), ("a", "b:c", "Basic YTpiOmM="),
        ]
        for (user, password, field) in examples {
            var rig = try AuthenticationRig()
            #expect(rig.refused("Basic realm=x, charset=\"UTF-8\"") == "ask basic x 0")
            #expect(rig.answered(.password(.init(user: user, password: password))) == "send basic")
            #expect(rig.field() == field)
            #expect(rig.sent?.bindsConnection == false)
        }
    }

    @Test("B2.76: a user name with a colon cannot be sent by Basic, and can by Digest")
    func colon() throws {
        let colon = PasswordCredential(user: "a:b", password: "c")
        var rig = try AuthenticationRig()
        #expect(rig.refused("Basic realm=x, Basic realm=y") == "ask basic x 0")
        #expect(rig.answered(.password(colon)) == "ask basic y 0")
        #expect(rig.answered(.password(colon)) == "deliver")
        #expect(rig.refused(digest()) == "ask digest x 0")
        #expect(rig.answered(.password(colon)) == "send digest")
    }

    @Test("B2.34: the answer to go on without a credential ends the offers at once")
    func unauthenticated() throws {
        var rig = try AuthenticationRig()
        #expect(rig.refused("Basic realm=x", digest()) == "ask digest x 0")
        #expect(rig.answered(.unauthenticated) == "deliver")
        #expect(rig.refused("Basic realm=x", digest()) == "ask digest x 0")
    }

    @Test("B2.35: a credential of the wrong kind counts as none")
    func wrongKind() throws {
        var rig = try AuthenticationRig()
        #expect(rig.refused("Basic realm=x", "Negotiate") == "ask negotiate - 0")
        #expect(rig.answered(.password(Self.password)) == "ask basic x 0")
        #expect(rig.answered(.token("abc")) == "deliver")
        #expect(rig.refused("Basic realm=x", "Negotiate") == "ask negotiate - 0")
        #expect(rig.answered(.token("abc")) == "ask basic x 0", "it was not allowed")
        #expect(rig.answered(.ticket) == "deliver")
    }

    @Test("B2.39: a rejected space is not offered again in this task")
    func rejected() throws {
        var rig = try AuthenticationRig()
        #expect(rig.refused("Basic realm=x", digest()) == "ask digest x 0")
        #expect(rig.answered(.reject) == "ask basic x 0")
        #expect(rig.answered(.password(Self.password)) == "send basic")
        #expect(rig.refused("Basic realm=x", digest()) == "ask basic x 1")
        #expect(rig.answered(.reject) == "deliver")
        #expect(rig.refused("Basic realm=x", digest()) == "deliver")
    }

    // MARK: Failures

    @Test("B2.15, B2.16: each refused credential counts, across schemes, and is the one to propose again")
    func failures() throws {
        var rig = try AuthenticationRig()
        #expect(rig.refused("Basic realm=x", digest()) == "ask digest x 0")
        #expect(rig.machine.rejected == nil)
        #expect(rig.answered(.password(Self.password)) == "send digest")
        #expect(rig.refused("Basic realm=x", digest("n2")) == "ask digest x 1")
        #expect(rig.machine.rejected == Self.password)
        #expect(rig.answered(.reject) == "ask basic x 1")
        #expect(rig.answered(.password(Self.other)) == "send basic")
        #expect(rig.refused("Basic realm=x", digest("n3")) == "ask basic x 2")
        #expect(rig.machine.rejected == Self.other)
        #expect(rig.answered(.password(Self.password)) == "send basic")
        #expect(rig.accepted() != nil)
    }

    @Test("B2.17: a challenge for another realm starts counting at 0 again")
    func anotherRealm() throws {
        var rig = try AuthenticationRig()
        #expect(rig.refused("Basic realm=x") == "ask basic x 0")
        #expect(rig.answered(.password(Self.password)) == "send basic")
        #expect(rig.refused("Basic realm=x") == "ask basic x 1")
        #expect(rig.answered(.password(Self.password)) == "send basic")
        #expect(rig.refused("Basic realm=y") == "ask basic y 0")
        #expect(rig.machine.rejected == nil)
    }

    @Test("B2.17, B2.103: after an acceptance counting starts at 0 again, and the answers are bounded all the same")
    func countsAnew() throws {
        var rig = try AuthenticationRig()
        #expect(rig.refused("Basic realm=x") == "ask basic x 0")
        #expect(rig.answered(.password(Self.other)) == "send basic")
        #expect(rig.refused("Basic realm=x") == "ask basic x 1")
        #expect(rig.answered(.password(Self.password)) == "send basic")
        #expect(rig.accepted() != nil)
        #expect(rig.machine.rejected == nil)
        #expect(rig.refused("Basic realm=y") == "ask basic y 0")
        #expect(rig.answered(.reject) == "deliver")
        for _ in 2..<AuthenticationMachine.maximumAnswers {
            #expect(rig.refused("Basic realm=y", "Basic realm=x") == "ask basic x 0", "the other one stays rejected")
            #expect(rig.answered(.password(Self.password)) == "send basic")
            #expect(rig.accepted() != nil)
        }
        #expect(rig.refused("Basic realm=x") == "deliver")
    }

    @Test("B2.16: what went with a lost request was not refused, and no failure is counted for it")
    func lost() throws {
        var rig = try AuthenticationRig()
        #expect(rig.refused(digest(), "Basic realm=x") == "ask digest x 0")
        #expect(rig.answered(.password(Self.password)) == "send digest")
        rig.machine.lost()
        #expect(rig.accepted() == nil)
        #expect(rig.refused(digest(), "Basic realm=x") == "ask digest x 0")
        #expect(rig.answered(.password(Self.password)) == "send digest")
        #expect(rig.refused(digest(), "Basic realm=x") == "ask digest x 1")
    }

    @Test("B2.103: ten answers for a space, then the refusal is delivered")
    func tenAnswers() throws {
        var rig = try AuthenticationRig()
        for count in 0..<10 {
            #expect(rig.refused("Basic realm=x") == "ask basic x \(count)")
            #expect(rig.answered(.password(Self.password)) == "send basic")
        }
        #expect(rig.refused("Basic realm=x") == "deliver")
        #expect(rig.refused("Basic realm=x") == "deliver")
    }

    @Test("B2.103: a server that names another realm each time ends after a bounded number of rounds")
    func changingRealms() throws {
        var rig = try AuthenticationRig()
        var sent = 0
        while sent < 1000, rig.refused("Basic realm=r\(sent)") != "deliver" {
            #expect(rig.answered(.password(Self.password)) == "send basic")
            sent += 1
        }
        #expect(sent == AuthenticationMachine.maximumRounds)
    }

    @Test("B2.103: a server that calls every nonce stale ends after a bounded number of rounds")
    func endlessStale() throws {
        var rig = try AuthenticationRig()
        #expect(rig.refused(digest()) == "ask digest x 0")
        var told = rig.answered(.password(Self.password))
        var sent = 0
        while sent < 1000, told == "send digest" {
            sent += 1
            told = rig.refused(digest("n\(sent)", "qop=auth, stale=true"))
        }
        #expect(told == "deliver")
        #expect(sent == AuthenticationMachine.maximumRounds)
    }

    // MARK: Digest

    @Test("B2.88: a stale nonce is replaced silently: no credential is asked for, and no failure is counted")
    func stale() throws {
        var rig = try AuthenticationRig()
        #expect(rig.refused(digest("n1")) == "ask digest x 0")
        #expect(rig.answered(.password(Self.password)) == "send digest")
        rig.freshness = .fixed("AAAA")
        #expect(rig.refused(digest("n2", "qop=auth, stale=TRUE")) == "send digest")
        let parameters = try rig.parameters()
        #expect(parameters["nonce"] == "n2")
        #expect(parameters["nc"] == "00000001")
        #expect(parameters["cnonce"] == "AAAA")
        #expect(rig.machine.failures == 0)
        #expect(rig.refused(digest("n3", "qop=auth, stale=false")) == "ask digest x 1")
    }

    @Test("B2.88: stale with the same nonce, in another realm, or before anything was sent is an ordinary refusal")
    func staleLies() throws {
        var rig = try AuthenticationRig()
        #expect(rig.refused(digest("n1", "qop=auth, stale=true")) == "ask digest x 0")
        #expect(rig.answered(.password(Self.password)) == "send digest")
        #expect(rig.refused(digest("n1", "qop=auth, stale=true")) == "ask digest x 1")
        #expect(rig.answered(.password(Self.password)) == "send digest")
        #expect(rig.refused(digest("n2", realm: "y", "qop=auth, stale=true")) == "ask digest y 0")
    }

    // MARK: NTLM and Negotiate

    @Test("B2.93: NTLM takes two rounds for one answer, and counts one failure for both")
    func ntlmRounds() throws {
        let challenge =
            "NTLM TlRMTVNTUAACAAAADAAMADgAAAAzgoriASNFZ4mrze8AAAAAAAAAACQAJABEAAAABgBwFwAAAA9TAGUAcgB2AGUA"
            + "cgACAAwARABvAG0AYQBpAG4AAQAMAFMAZQByAHYAZQByAAAAAAA="
        var rig = try AuthenticationRig()
        for round in 0..<3 {
            #expect(rig.refused("NTLM, Basic realm=x") == "ask ntlm - \(round)")
            #expect(rig.answered(.password(Self.password)) == "send ntlm")
            #expect(rig.refused(challenge) == "send ntlm")
        }
        #expect(rig.refused("NTLM, Basic realm=x") == "ask ntlm - 3")
        #expect(rig.answered(.reject) == "ask basic x 3")
        // The server's second message, without a first one of this client, begins nothing.
        #expect(rig.answered(.password(Self.password)) == "send basic")
        #expect(rig.refused(challenge) == "deliver")
    }

    @Test("B2.12, B2.16: a second message of NTLM that cannot be read refuses no password; NTLM is not offered again")
    func ntlmUnreadable() throws {
        // Without Unicode, cut off, with a list that is not there, and of another kind.
        let messages = [
            "TlRMTVNTUAACAAAAAAAAAAAAAAACggAAAQIDBAUGBwgAAAAAAAAAAA==", "TlRMTVNTUAACAAAA",
            "TlRMTVNTUAACAAAAAAAAAAAAAAABAoAAAQIDBAUGBwgAAAAAAAAAAP8AAAD/AAAA", "AAAA",
        ]
        for message in messages {
            var rig = try AuthenticationRig()
            #expect(rig.refused("NTLM, Basic realm=x") == "ask ntlm - 0")
            #expect(rig.answered(.password(Self.password)) == "send ntlm")
            #expect(rig.refused("NTLM \(message)", "Basic realm=x") == "ask basic x 0", "\(message)")
            #expect(rig.answered(.password(Self.password)) == "send basic")
            #expect(rig.refused("NTLM") == "deliver")
            var alone = try AuthenticationRig()
            #expect(alone.refused("NTLM") == "ask ntlm - 0")
            #expect(alone.answered(.password(Self.password)) == "send ntlm")
            #expect(alone.refused("NTLM \(message)") == "deliver", "\(message)")
        }
    }

    @Test(
        "B2.93: when the connection goes with NTLM's third message the rounds begin anew, and nothing counts as refused"
    )
    func ntlmLost() throws {
        let challenge =
            "NTLM TlRMTVNTUAACAAAADAAMADgAAAAzgoriASNFZ4mrze8AAAAAAAAAACQAJABEAAAABgBwFwAAAA9TAGUAcgB2AGUA"
            + "cgACAAwARABvAG0AYQBpAG4AAQAMAFMAZQByAHYAZQByAAAAAAA="
        var rig = try AuthenticationRig()
        #expect(rig.refused("NTLM") == "ask ntlm - 0")
        #expect(rig.answered(.password(Self.password)) == "send ntlm")
        let early = rig.machine.connectionLost()
        #expect(early == nil, "The first message depends on no connection")
        for _ in 0..<2 {
            #expect(rig.refused(challenge) == "send ntlm")
            #expect(rig.sent?.answersConnection == true)
            let offer = rig.machine.connectionLost()
            #expect(offer?.opensNothing == true)
        }
        #expect(rig.machine.failures == 0)
        #expect(rig.machine.rejected == nil)
        #expect(rig.refused("NTLM") == "ask ntlm - 1")
    }

    @Test("B2.1: the delegate is asked, once, before a server that is not named gets a ticket")
    func ticketIsAskedFor() throws {
        var rig = try AuthenticationRig()
        #expect(rig.refused("Basic realm=x", "Negotiate") == "ask negotiate - 0")
        #expect(rig.answered(.none) == "ask basic x 0")
        #expect(rig.answered(.password(Self.password)) == "send basic")
        #expect(rig.refused("Basic realm=x", "Negotiate") == "ask basic x 1")
        #expect(rig.refused("Negotiate", "Negotiate YQ==") == "deliver")
    }

    @Test("B2.1, B2.16: a ticket that the delegate allows is sent as to a named server, and its refusal counts")
    func ticketIsGiven() throws {
        var rig = try AuthenticationRig()
        #expect(rig.refused("Basic realm=x", "Negotiate") == "ask negotiate - 0")
        #expect(rig.answered(.ticket) == "negotiate -")
        #expect(rig.answered(.token("YQ==")) == "send negotiate")
        #expect(rig.refused("Basic realm=x", "Negotiate Yg==") == "negotiate Yg==", "one question for all rounds")
        #expect(rig.answered(.token("Yw==")) == "send negotiate")
        #expect(rig.field() == "Negotiate Yw==")
        #expect(rig.refused("Basic realm=x", "Negotiate") == "ask basic x 1")
    }

    @Test("B2.95: a ticket that is allowed but does not exist is skipped, and counts as no failure")
    func givenTicketIsMissing() throws {
        var rig = try AuthenticationRig()
        #expect(rig.refused("Basic realm=x", "Negotiate") == "ask negotiate - 0")
        #expect(rig.answered(.ticket) == "negotiate -")
        #expect(rig.answered(.none) == "ask basic x 0")
    }

    @Test("B2.11, B2.95: a named server gets the ticket without a question, in as many rounds as it sends tokens")
    func negotiate() throws {
        var rig = try AuthenticationRig(usesTicketUnasked: true)
        #expect(rig.refused("Basic realm=x", "Negotiate") == "negotiate -")
        #expect(rig.answered(.token("YQ==")) == "send negotiate")
        #expect(rig.field() == "Negotiate YQ==")
        #expect(rig.sent?.bindsConnection == true)
        #expect(rig.refused("Basic realm=x", "Negotiate Yg==") == "negotiate Yg==")
        #expect(rig.answered(.token("Yw==")) == "send negotiate")
        #expect(rig.accepted()?.authorization.credential == nil)
    }

    @Test("B2.95: without a ticket Negotiate is skipped for the rest of the task")
    func noTicket() throws {
        var rig = try AuthenticationRig(usesTicketUnasked: true)
        #expect(rig.refused("Basic realm=x", "Negotiate") == "negotiate -")
        #expect(rig.answered(.none) == "ask basic x 0")
        #expect(rig.answered(.password(Self.password)) == "send basic")
        #expect(rig.refused("Basic realm=x", "Negotiate") == "ask basic x 1")
        #expect(rig.refused("Negotiate") == "deliver")
    }

    @Test("B2.11: a refused ticket is not counted as a failure of the credential that is asked for next")
    func refusedTicket() throws {
        var rig = try AuthenticationRig(usesTicketUnasked: true)
        #expect(rig.refused("Basic realm=x", "Negotiate") == "negotiate -")
        #expect(rig.answered(.token("YQ==")) == "send negotiate")
        #expect(rig.refused("Basic realm=x", "Negotiate") == "ask basic x 0")
    }

    @Test("B2.103: a server that never ends its Negotiate rounds is given up")
    func endlessTokens() throws {
        var rig = try AuthenticationRig(usesTicketUnasked: true)
        var told = rig.refused("Negotiate")
        var rounds = 0
        while rounds < 1000, told.hasPrefix("negotiate") {
            rounds += 1
            #expect(rig.answered(.token("YQ==")) == "send negotiate")
            told = rig.refused("Negotiate Yg==")
        }
        #expect(told == "deliver")
        #expect(rounds == AuthenticationMachine.maximumRounds)
    }

    // MARK: Secrets

    @Test("B17.57: nothing that holds a credential prints it")
    func secrets() throws {
        var rig = try AuthenticationRig()
        _ = rig.refused(digest())
        _ = rig.answered(.password(Self.password))
        _ = rig.refused(digest("n2"))
        let step = rig.machine.answered(.password(Self.password), freshness: rig.freshness)
        var spaces = RememberedSpaces()
        spaces.remember(try rig.acceptance().authorization, for: rig.request)
        let answers: [AuthenticationMachine.Answer] = [.password(Self.password), .token("secret"), .none]
        var text = "\(rig.machine) \(step) \(spaces) \(answers) \(Self.password) \(rig.freshness)"
        text += String(reflecting: rig.machine) + String(reflecting: Self.password) + String(reflecting: spaces)
        dump(rig.machine, to: &text)
        dump(spaces, to: &text)
        dump(answers, to: &text)
        for secret in ["Mufasa", "Circle", "secret", "qqqq"] { #expect(!text.contains(secret), "\(secret)") }
    }
}
