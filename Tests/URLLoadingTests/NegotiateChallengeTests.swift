// Servers and proxies that ask for Negotiate (behaviour 2.10): which are shown the user's Kerberos ticket, and which
// delegate is asked about it before. These tests have no ticket: that the system's library was asked for one is seen by
// its refusal, which the challenge behind it tells of.

import Dispatch
import Foundation
import Testing
import URLLoadingEngine
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingSystem

@testable import URLLoading

@Suite("Negotiate: which servers are shown the ticket", .endsSessions, .timeLimit(.minutes(5)))
struct NegotiateChallengeTests {
    private static var isInstalled: Bool {
        if case .success = NegotiateLibrary.system { true } else { false }
    }

    private static let both: LoopbackServer.Router = { request in
        request.fields.first(.authorization) == basic("u", "p")
            ? .text("secret") : .denied("Negotiate", "Basic realm=\"r\"")
    }

    private static let questions = ["session Negotiate - 0 nobody 401", "task HTTPBasic r 0 nobody 401"]

    /// Answers Negotiate so, and everything else with the password.
    private func answering(
        _ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential? = nil
    ) -> GuestHabit {
        { challenge in
            challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodNegotiate
                ? (disposition, credential) : (.useCredential, URLCredential("u", "p"))
        }
    }

    /// Whether the library was asked before the last question.
    private func wasAsked(_ delegate: GuestDelegate) -> Bool {
        delegate.challenges.value.last?.error?.localizedDescription.contains("GSSAPI") == true
    }

    @Test(
        "B2.1, B2.36: a server that is not in negotiateHosts is not shown the ticket: the delegate is asked first",
        .enabled(if: isInstalled, "the GSSAPI library is not installed"))
    func unnamed() async throws {
        try await withServer(router: Self.both) { server async throws in
            for hosts: Set<String> in [[], ["other.test", "*.0.0.1", "http://127.0.0.1", "127.0.0.1:\(server.port)"]] {
                let delegate = GuestDelegate(answering(.performDefaultHandling))
                let session = visitor(delegate) { $0.negotiateHosts = hosts }
                #expect(try await session.visit(server.at("/")) == "200 secret")
                #expect(delegate.transcript.calls == Self.questions)
                #expect(!wasAsked(delegate))
                let space = try #require(delegate.challenges.value.first).protectionSpace
                #expect(space.host == "127.0.0.1" && space.port == server.port && !space.isProxy())
            }
        }
    }

    @Test(
        "B2.2: where the session's method is missing, the tasks' method is asked about Negotiate",
        .enabled(if: isInstalled))
    func tasksMethod() async throws {
        try await withServer(router: Self.both) { server async throws in
            let own = AsyncGuest()
            #expect(try await visitor().visit(server.at("/"), delegate: own) == "200 secret")
            #expect(
                own.transcript.calls == [
                    "async task Negotiate - 0 nobody 401", "async task HTTPBasic r 0 nobody 401",
                ])
        }
    }

    @Test(
        "B2.95: where the library is not installed no question is about Negotiate, and the next one says why",
        .enabled(if: !isInstalled, "the GSSAPI library is installed"))
    func missingLibrary() async throws {
        try await withServer(router: Self.both) { server async throws in
            let delegate = GuestDelegate(answering(.cancelAuthenticationChallenge))
            #expect(try await visitor(delegate).visit(server.at("/")) == "200 secret")
            #expect(delegate.transcript.calls == Array(Self.questions.dropFirst()))
            #expect(wasAsked(delegate))
        }
    }

    @Test("B2.45, B2.46: without a delegate the ticket stays, the URL's password is used, and else the 401 comes")
    func nobodyToAsk() async throws {
        let visits = Visits()
        let router: LoopbackServer.Router = { request in
            visits.note(request)
            return request.path == "/only" ? .denied("Negotiate") : Self.both(request)
        }
        try await withServer(router: router) { server async throws in
            #expect(try await visitor().visit(server.at("/").naming("u:p")) == "200 secret")
            #expect(try await visitor().visit(server.at("/only")) == "401 denied")
            #expect(visits.lines == ["GET /", "GET / \(basic("u", "p"))", "GET /only"])
        }
    }

    @Test("B2.33, B2.95: a delegate gives the ticket; without one Negotiate is skipped, and the next question says why")
    func given() async throws {
        try await withServer(router: Self.both) { server async throws in
            let delegate = GuestDelegate(answering(.useCredential, .kerberosTicket))
            #expect(try await visitor(delegate).visit(server.at("/")) == "200 secret")
            #expect(delegate.transcript.calls.last == Self.questions.last)
            #expect(wasAsked(delegate))
        }
    }

    @Test(
        "B2.11, B2.95: a host in negotiateHosts is shown the ticket unasked; the delegate is asked about the next scheme"
    )
    func named() async throws {
        try await withServer(router: Self.both) { server async throws in
            let delegate = GuestDelegate(answering(.cancelAuthenticationChallenge))
            let session = visitor(delegate) { $0.negotiateHosts = ["other.test", "127.0.0.1"] }
            #expect(try await session.visit(server.at("/")) == "200 secret")
            #expect(delegate.transcript.calls == Array(Self.questions.dropFirst()))
            #expect(wasAsked(delegate))
        }
    }

    /// Every thread that may fetch tickets is held, as by a ticket server that stands still.
    private func withSilentTicketServer(_ body: () async throws -> Void) async throws {
        let end = DispatchSemaphore(value: 0)
        let count = 16
        defer { for _ in 0..<count { end.signal() } }
        for _ in 0..<count { BlockingPool.tickets.run { end.wait() } }
        try await body()
    }

    @Test(
        "B2.95, B6.1: a ticket that does not come within the request's time-out is no ticket: the next scheme is offered"
    )
    func silentTicketServer() async throws {
        try await withSilentTicketServer {
            try await withServer(router: Self.both) { server async throws in
                let delegate = GuestDelegate(answering(.cancelAuthenticationChallenge))
                let session = visitor(delegate) {
                    $0.negotiateHosts = ["127.0.0.1"]
                    // Each step of the load has it, also on a busy machine.
                    $0.timeoutIntervalForRequest = 5
                }
                #expect(try await session.visit(server.at("/")) == "200 secret")
                #expect(delegate.transcript.calls == Array(Self.questions.dropFirst()))
                let said = delegate.challenges.value.last?.error?.localizedDescription
                #expect(said?.contains("GSSAPI has given no token within 5.0 seconds") == true)
            }
        }
    }

    @Test("B2.95: a ticket server that stands still holds up no task that wants no ticket")
    func silentTicketServerOfOthers() async throws {
        try await withSilentTicketServer {
            try await withServer(router: Self.both) { server async throws in
                let delegate = GuestDelegate(answering(.rejectProtectionSpace))
                #expect(try await visitor(delegate).visit(server.at("/")) == "200 secret")
                #expect(delegate.transcript.calls.last == Self.questions.last)
            }
        }
    }

    @Test("B2.35: a password for Negotiate, or a ticket for NTLM, is passed over: the next scheme is asked about")
    func wrongKind() async throws {
        try await withServer(router: Self.both) { server async throws in
            let delegate = GuestDelegate(Guest.once("u", "p"))
            #expect(try await visitor(delegate).visit(server.at("/")) == "200 secret")
            #expect(delegate.transcript.calls.last == Self.questions.last && !delegate.challenges.value.isEmpty)
        }
        try await withServer(router: { _ in .denied("NTLM", "Basic realm=\"r\"") }) { server async throws in
            let delegate = GuestDelegate(Guest.always(.useCredential, .kerberosTicket))
            #expect(try await visitor(delegate).visit(server.at("/")) == "401 denied")
            #expect(
                delegate.transcript.calls == ["session NTLM - 0 nobody 401", "task HTTPBasic r 0 nobody 401"])
        }
    }

    @Test(
        "B2.34, B2.38, B2.39: the other answers to a challenge about Negotiate mean what they mean for every method",
        .enabled(if: isInstalled))
    func otherAnswers() async throws {
        try await withServer(router: Self.both) { server async throws in
            let url = try server.at("/")
            let empty = GuestDelegate(answering(.useCredential))
            #expect(try await visitor(empty).visit(url) == "401 denied")
            let rejecting = GuestDelegate(answering(.rejectProtectionSpace))
            #expect(try await visitor(rejecting).visit(url) == "200 secret")
            #expect(rejecting.transcript.calls == Self.questions && !wasAsked(rejecting))
            let cancelling = GuestDelegate(answering(.cancelAuthenticationChallenge))
            #expect(await codeThrown { _ = try await visitor(cancelling).visit(url) } == .cancelled)
            #expect(empty.transcript.calls.count == 1 && cancelling.transcript.calls.count == 1)
        }
    }

    @Test("B2.101: a proxy that the program has set is shown the ticket unasked")
    func chosenProxy() async throws {
        let router: LoopbackServer.Router = { request in
            request.fields.first(.proxyAuthorization) == basic("u", "p")
                ? .text("through") : .deniedByProxy("Negotiate", "Basic realm=\"proxy\"")
        }
        try await withServer(router: router) { proxy async throws in
            let delegate = GuestDelegate(answering(.cancelAuthenticationChallenge))
            let session = visitor(delegate) {
                $0.connectionProxyDictionary = [
                    "HTTPEnable": 1, "HTTPProxy": proxy.address.host, "HTTPPort": proxy.port,
                ]
            }
            #expect(try await session.visit(try #require(URL(string: "http://origin.test/x"))) == "200 through")
            #expect(delegate.transcript.calls == ["task HTTPBasic proxy 0 nobody 407"])
            #expect(wasAsked(delegate))
        }
    }

    // MARK: Places

    @Test(
        "B2.11: negotiateHosts holds hosts or everything below a domain, in any case; text that is no host matches none",
        arguments: [
            ("intranet.test", true), ("INTRANET.test", true), ("intranet.test.", true), ("*.test", true),
            ("*.intranet.test", false), ("test", false), (".test", false), ("*", false), ("*.", false), ("", false),
            ("http://intranet.test", false), ("intranet.test:80", false), ("net.test", false),
        ])
    func places(entry: String, isNamed: Bool) throws {
        let server = AuthenticationSide.server(try #require(Origin(scheme: .http, host: "Intranet.test")))
        var values = ConfigurationValues()
        values.negotiateHosts = [entry]
        #expect(TicketPlaces(values).include(server) == isNamed)
        #expect(!TicketPlaces(ConfigurationValues()).include(server))
    }

    @Test(
        "B2.101: proxies that the program sets may have the ticket; one from the environment only if negotiateHosts holds it"
    )
    func proxies() throws {
        let proxy = AuthenticationSide.proxy(
            try #require(ProxyServer(kind: .http, host: "proxy.test", port: 3128)))
        let server = AuthenticationSide.server(try #require(Origin(scheme: .https, host: "proxy.test")))
        var values = ConfigurationValues()
        values.proxyEnvironment = ["http_proxy": "http://proxy.test:3128"]
        #expect(!TicketPlaces(values).include(proxy))
        values.negotiateHosts = ["proxy.test"]
        #expect(TicketPlaces(values).include(proxy))
        let choices: [(inout ConfigurationValues) -> Void] = [
            { $0.connectionProxyDictionary = ProxyDictionary(dictionary: ["HTTPProxy": "proxy.test"]) },
            { $0.proxyConfigurations = [ProxyConfiguration(url: "http://proxy.test:3128")].compactMap(\.self) },
            { $0.proxyResolver = { _ in [.direct] } },
        ]
        for choose in choices {
            var values = ConfigurationValues()
            choose(&values)
            #expect(TicketPlaces(values).include(proxy) && !TicketPlaces(values).include(server))
        }
    }

    // MARK: The credential

    @Test("B2.53, B17.57: the credential kerberosTicket has no name and no password, and is neither kept nor archived")
    func credential() throws {
        let ticket = URLCredential.kerberosTicket
        #expect(ticket.user == nil && !ticket.hasPassword && ticket.identity == nil && ticket.persistence == .none)
        #expect(ticket == .kerberosTicket && ticket != URLCredential("u", "p", .none))
        #expect("\(ticket)".contains("Kerberos"))
        let archive = try NSKeyedArchiver.archivedData(withRootObject: ticket, requiringSecureCoding: true)
        let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: URLCredential.self, from: archive)
        #expect(read?.isTicket == false && read?.hasPassword == false)
    }
}
