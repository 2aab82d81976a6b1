// App Transport Security as a value of the configuration (behaviour 3.7). What is offered in handshakes is proven
// against OpenSSL's server, among the real peers.

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingTLS
import URLLoadingTrust

@testable import URLLoading

@Suite("App Transport Security", .timeLimit(.minutes(5)))
struct TransportSecurityTests {
    typealias Policy = URLSessionConfiguration.AppTransportSecurity

    private struct Place {
        let root: Certificate
        let identity: Identity
        let server: LoopbackServer

        func load(
            _ policy: Policy?, host: String = "localhost",
            judgedBy evaluation: URLSessionConfiguration.ServerTrustEvaluation? = nil,
            delegate: (any URLSessionDelegate)? = nil, minimum: tls_protocol_version_t = .TLSv12
        ) async throws -> LoadEnd {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.appTransportSecurity = policy
            configuration.serverTrustEvaluation = evaluation ?? .anchors(pem: root.pem)
            configuration.tlsMinimumSupportedProtocolVersion = minimum
            return await LoadEnd(try server.at("/", host: host), configuration, delegate: delegate)
        }
    }

    private func withPlace(
        _ template: CertificateTemplate = .server("localhost", "other.test"), minimum: TLSVersion = .v12,
        maximum: TLSVersion = .v13, _ body: (Place) async throws -> Void
    ) async throws {
        let root = try CertificateFactory.root()
        let issued = try root.issue(.authority("Intermediate")).issue(template)
        let tls = ServerTLS(identity: issued.identity, minimum: minimum, maximum: maximum)
        try await withServer(.init(tls: tls), router: { _ in .text("secret") }) { server async throws in
            try await body(Place(root: root.certificate, identity: issued.identity, server: server))
        }
    }

    private func withPlainServer(_ body: (LoopbackServer) async throws -> Void) async throws {
        try await withServer(router: { _ in .text("secret") }, body)
    }

    private func code(_ url: URL, _ dictionary: [String: Any]) async throws -> URLError.Code? {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.appTransportSecurity = try Policy(dictionary: dictionary)
        return await LoadEnd(url, configuration).error?.code
    }

    private let refused = URLError.Code.appTransportSecurityRequiresSecureConnection

    // MARK: Plain http

    @Test("B3.85, B17.32: off by default; with a policy plain http is −1022, and nothing is opened")
    func plainHTTP() async throws {
        #expect(URLSessionConfiguration.default.appTransportSecurity == nil)
        try await withPlainServer { server async throws in
            #expect(try await LoadEnd(server.at("/")).isWhole)
            let before = server.stats.connectionsAccepted
            let configuration = URLSessionConfiguration.ephemeral
            configuration.appTransportSecurity = Policy()
            let end = await LoadEnd(try server.at("/"), configuration)
            #expect(end.error?.code == refused && end.error?.errorCode == -1022)
            #expect(end.error?.failingURL?.host() == "127.0.0.1")
            #expect(server.stats.connectionsAccepted == before)
        }
    }

    @Test("B3.79: NSAllowsArbitraryLoads allows all loads except those to stricter exceptions")
    func arbitraryLoads() async throws {
        try await withPlainServer { server async throws in
            let url = try server.at("/", host: "localhost")
            #expect(try await code(url, ["NSAllowsArbitraryLoads": true]) == nil)
            #expect(try await code(url, ["NSAllowsArbitraryLoads": false]) == refused)
            #expect(
                try await code(
                    url, ["NSAllowsArbitraryLoads": true, "NSExceptionDomains": ["localhost": [String: Any]()]])
                    == refused)
        }
    }

    @Test(
        "B3.80, B3.81: NSAllowsLocalNetworking allows local names and addresses, and overrules NSAllowsArbitraryLoads"
    )
    func localNetworking() async throws {
        try await withPlainServer { server async throws in
            let policy: [String: Any] = ["NSAllowsLocalNetworking": true]
            for host in ["localhost", "127.0.0.1"] {
                #expect(try await code(server.at("/", host: host), policy) == nil)
            }
            #expect(try await code(server.at("/", host: "other.test"), policy) == refused)
            for key in [
                "NSAllowsLocalNetworking", "NSAllowsArbitraryLoadsForMedia", "NSAllowsArbitraryLoadsInWebContent",
            ] {
                let both: [String: Any] = ["NSAllowsArbitraryLoads": true, key: false]
                #expect(try await code(server.at("/", host: "other.test"), both) == refused, "\(key)")
            }
        }
        // B3.81: without the key an address is no exception.
        try await withPlainServer { server async throws in #expect(try await code(server.at("/"), [:]) == refused) }
    }

    @Test(
        "B3.82: the exception that fits a host most closely is used",
        arguments: [
            (["other.test": [insecure: true]], true), (["test": [insecure: true]], false),
            (["test": [insecure: true, below: true]], true),
            (["test": [insecure: true, below: true], "other.test": [insecure: false]], false),
            (["test": [insecure: false, below: true], "other.test": [insecure: true]], true),
            (["ther.test": [insecure: true, below: true]], false),
            (["other.test.": [insecure: true]], true),
        ] as [([String: [String: Bool]], Bool)])
    func exceptions(domains: [String: [String: Bool]], isAllowed: Bool) async throws {
        try await withPlainServer { server async throws in
            let code = try await code(server.at("/", host: "other.test"), ["NSExceptionDomains": domains])
            #expect(code == (isAllowed ? nil : refused))
        }
    }

    private static let insecure = "NSExceptionAllowsInsecureHTTPLoads"
    private static let below = "NSIncludesSubdomains"

    @Test("B3.82: exceptions for addresses and ranges of them")
    func addressExceptions() async throws {
        try await withPlainServer { server async throws in
            for (domain, isAllowed) in [
                ("127.0.0.1", true), ("127.0.0.0/8", true), ("126.0.0.0/7", true), ("0.0.0.0/0", true),
                ("127.0.0.2", false), ("127.0.0.2/31", false), ("128.0.0.0/1", false), ("::/0", false),
            ] {
                let code = try await code(server.at("/"), ["NSExceptionDomains": [domain: [Self.insecure: true]]])
                #expect(code == (isAllowed ? nil : refused), "\(domain)")
            }
        }
    }

    @Test("B3.84: a redirect from https to http is −1022")
    func redirects() async throws {
        try await withPlainServer { plain in
            let target = plain.url("/", host: "localhost")
            let (root, identity) = try CertificateFactory.server("localhost")
            let router: LoopbackServer.Router = { _ in .status(302).adding("Location", target) }
            try await withServer(.init(tls: ServerTLS(identity: identity)), router: router) { server async throws in
                let configuration = URLSessionConfiguration.ephemeral
                configuration.appTransportSecurity = Policy()
                configuration.serverTrustEvaluation = .anchors(pem: root.pem)
                let end = await LoadEnd(try server.at("/", host: "localhost"), configuration)
                #expect(end.error?.code == refused && end.error?.failingURL?.absoluteString == target)
                #expect(server.stats.requests == 1 && plain.stats.connectionsAccepted == 0)
            }
        }
    }

    // MARK: TLS

    @Test("B3.76: a server that satisfies the policy is loaded from, with an AES suite")
    func goodServer() async throws {
        try await withPlace { place async throws in #expect(try await place.load(Policy()).isWhole) }
    }

    @Test(
        "B3.78, B3.82: an old version is −1200 unless an exception and the configuration allow it",
        .http1Only("HTTP/2 needs TLS 1.2"))
    func versions() async throws {
        func policy(_ version: String) throws -> Policy {
            try Policy(dictionary: ["NSExceptionDomains": ["localhost": ["NSExceptionMinimumTLSVersion": version]]])
        }
        try await withPlace(maximum: .v12) { place async throws in
            #expect(try await place.load(policy("TLSv1.3")).error?.code == .secureConnectionFailed)
            #expect(try await place.load(policy("TLSv1.2")).isWhole)
            #expect(place.server.stats.requests == 1)
        }
        try await withPlace(minimum: .v10, maximum: .v11) { place async throws in
            #expect(try await place.load(nil, minimum: .TLSv10).isWhole)
            #expect(try await place.load(Policy(), minimum: .TLSv10).error?.code == .secureConnectionFailed)
            #expect(try await place.load(policy("TLSv1.0"), minimum: .TLSv10).isWhole)
            #expect(try await place.load(policy("TLSv1.0")).error?.code == .secureConnectionFailed)
        }
    }

    @Test("B3.77: a delegate that accepts a server does not replace the evaluation")
    func delegates() async throws {
        try await withPlace { place async throws in
            let vouching = Vouching()
            #expect(try await place.load(nil, judgedBy: .system, delegate: vouching).isWhole)
            let refused = try await place.load(Policy(), judgedBy: .system, delegate: vouching)
            #expect(refused.error?.code == .secureConnectionFailed)
            #expect(refused.error?.localizedDescription.contains("App Transport Security") == true)
            #expect(vouching.asked.count == 2 && place.server.stats.requests == 1)
            let excepted = try Policy(
                dictionary: ["NSExceptionDomains": ["localhost": [Self.insecure: true]]])
            #expect(try await place.load(excepted, judgedBy: .system, delegate: vouching).isWhole)
            // Where the evaluation accepts the server, the delegate's answer changes nothing.
            #expect(try await place.load(Policy(), delegate: vouching).isWhole)
        }
    }

    @Test(
        "B3.76: neither accepting every certificate nor a weak one that was picked by hand satisfies the policy")
    func unjudged() async throws {
        try await withPlace { place async throws in
            let end = try await place.load(Policy(), judgedBy: .dangerouslyAcceptAnyCertificate)
            #expect(end.error?.code == .secureConnectionFailed && place.server.stats.requests == 0)
        }
        // Without a policy a certificate that was picked by hand is accepted, whatever it is signed with.
        let old = try CertificateFactory.selfSigned(.server("localhost").with { $0.hash = .sha1 })
        try await withServer(.init(tls: ServerTLS(identity: old.identity)), router: { _ in .text("secret") }) {
            server in
            let place = Place(root: old.certificate, identity: old.identity, server: server)
            let picked = URLSessionConfiguration.ServerTrustEvaluation.selfSigned(
                .pem(old.certificate.pem), host: "localhost")
            #expect(try await place.load(nil, judgedBy: picked).isWhole)
            let end = try await place.load(Policy(), judgedBy: picked)
            #expect(end.error?.code == .secureConnectionFailed && server.stats.requests == 1)
            #expect(end.error?.localizedDescription.contains("SHA-1") == true)
        }
    }

    // MARK: Pinned domains

    private enum Pin: CaseIterable { case none, right, wrong, alternatives }

    private func list(_ pin: Pin, _ certificate: Certificate, _ other: String) -> [[String: String]]? {
        let pins: [String]? =
            switch pin {
            case .none: nil
            case .right: [certificate.pin]
            case .wrong: [other]
            case .alternatives: [other, certificate.pin]
            }
        return pins?.map { ["SPKI-SHA256-BASE64": $0] }
    }

    @Test("B3.83: of each list that is given, for leaves or authorities, one pin must match; a mismatch is −1200")
    func pins() async throws {
        let other = try CertificateFactory.root("Other").certificate.pin
        try await withPlace { place async throws in
            let intermediate = try #require(place.identity.chain.certificates.last)
            for leaf in Pin.allCases {
                for authority in Pin.allCases where (leaf, authority) != (.none, .none) {
                    var entry: [String: Any] = [:]
                    entry["NSPinnedLeafIdentities"] = list(leaf, place.identity.chain.leaf, other)
                    entry["NSPinnedCAIdentities"] = list(authority, intermediate, other)
                    let policy = try Policy(dictionary: ["NSPinnedDomains": ["localhost": entry]])
                    let end = try await place.load(policy)
                    let isRight = leaf != .wrong && authority != .wrong
                    #expect(end.isWhole == isRight, "\(leaf) \(authority)")
                    #expect(isRight || end.error?.code == .secureConnectionFailed)
                }
            }
        }
    }

    @Test("B3.83: the leaf matches no authority's pin and the root no leaf's; other hosts are not pinned")
    func pinPlaces() async throws {
        try await withPlace { place async throws in
            func end(_ key: String, _ pin: String, below: Bool = false, host: String = "localhost") async throws
                -> LoadEnd
            {
                let entry: [String: Any] = [Self.below: below, key: [["SPKI-SHA256-BASE64": pin]]]
                let domain = host == "localhost" ? host : "test"
                return try await place.load(try Policy(dictionary: ["NSPinnedDomains": [domain: entry]]), host: host)
            }
            let (leaf, root) = (place.identity.chain.leaf.pin, place.root.pin)
            #expect(try await !end("NSPinnedCAIdentities", leaf).isWhole)
            #expect(try await !end("NSPinnedLeafIdentities", root).isWhole)
            #expect(try await end("NSPinnedCAIdentities", root).isWhole)
            #expect(try await end("NSPinnedLeafIdentities", root, host: "other.test").isWhole)
            #expect(try await !end("NSPinnedLeafIdentities", root, below: true, host: "other.test").isWhole)
        }
    }

    @Test("B3.77, B3.83: pins hold where the rest is switched off, and against a delegate that accepts every server")
    func pinsAlone() async throws {
        try await withPlace { place async throws in
            func policy(_ pin: String) throws -> Policy {
                try Policy(dictionary: [
                    "NSAllowsArbitraryLoads": true,
                    "NSPinnedDomains": ["localhost": ["NSPinnedLeafIdentities": [["SPKI-SHA256-BASE64": pin]]]],
                ])
            }
            let vouching = Vouching()
            let wrong = try await place.load(policy(place.root.pin), judgedBy: .system, delegate: vouching)
            #expect(wrong.error?.code == .secureConnectionFailed && place.server.stats.requests == 0)
            let right = try await place.load(
                policy(place.identity.chain.leaf.pin), judgedBy: .system, delegate: vouching)
            #expect(right.isWhole)
        }
    }

    // MARK: Dictionaries

    @Test(
        "A dictionary that is not understood throws an error that names the key",
        arguments: [
            (#"{"NSAllowArbitraryLoads": true}"#, "NSAllowArbitraryLoads is not known"),
            (#"{"NSAllowsArbitraryLoads": "YES"}"#, "NSAllowsArbitraryLoads is no Boolean"),
            (#"{"NSExceptionDomains": []}"#, "NSExceptionDomains is no dictionary"),
            (#"{"NSExceptionDomains": {"a.test": true}}"#, "NSExceptionDomains.a.test is no dictionary"),
            (
                #"{"NSExceptionDomains": {"a.test": {"NSIncludeSubdomains": true}}}"#,
                "a.test.NSIncludeSubdomains is not known"
            ),
            (
                #"{"NSExceptionDomains": {"a.test": {"NSExceptionMinimumTLSVersion": "1.2"}}}"#,
                "NSExceptionMinimumTLSVersion is not one of"
            ),
            (
                #"{"NSExceptionDomains": {"a.test": {"NSExceptionMinimumTLSVersion": 2}}}"#,
                "NSExceptionMinimumTLSVersion is no text"
            ),
            (#"{"NSExceptionDomains": {"A.test": {}}}"#, "A.test is no host"),
            (#"{"NSExceptionDomains": {"*.test": {}}}"#, "*.test is no host"),
            (#"{"NSExceptionDomains": {"a.test:80": {}}}"#, "a.test:80 is no host"),
            (#"{"NSExceptionDomains": {"10.0.0.0/33": {}}}"#, "10.0.0.0/33 is no range"),
            (#"{"NSPinnedDomains": {"a.test": {}}}"#, "NSPinnedCAIdentities is missing"),
            (#"{"NSPinnedDomains": {"a.test": {"NSPinnedCAIdentities": "x"}}}"#, "is no array of dictionaries"),
            (#"{"NSPinnedDomains": {"a.test": {"NSPinnedCAIdentities": [{"SHA1": "x"}]}}}"#, "SPKI-SHA256-BASE64"),
            (
                #"{"NSPinnedDomains": {"a.test": {"NSPinnedCAIdentities": [{"SPKI-SHA256-BASE64": "AAAA"}]}}}"#,
                "\"AAAA\" has 3 bytes"
            ),
            (#"{"NSPinnedDomains": {"a.test": {"NSPinnedLeafIdentities": []}}}"#, "there is none"),
        ])
    func mistakes(text: String, words: String) throws {
        let read = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        let dictionary = try #require(read)
        do {
            _ = try Policy(dictionary: dictionary)
            Issue.record("it was accepted")
        } catch {
            #expect(error.localizedDescription.contains(words), "\(error.localizedDescription)")
        }
    }

    @Test("Equal dictionaries make equal policies")
    func equality() throws {
        #expect(try Policy(dictionary: [:]) == Policy())
        #expect(try Policy(dictionary: ["NSAllowsArbitraryLoads": true]) != Policy())
        let configuration = URLSessionConfiguration.ephemeral
        configuration.appTransportSecurity = Policy()
        let copy = configuration.copy() as? URLSessionConfiguration
        #expect(copy?.appTransportSecurity == Policy())
    }
}
