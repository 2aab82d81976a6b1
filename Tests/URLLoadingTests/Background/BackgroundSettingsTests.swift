// Which settings of a session are passed on to another process, and which keep its transfers in the
// program (behaviour 10.2).

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingTestSupport

@testable import URLLoading

@Suite("Background sessions: settings", .timeLimit(.minutes(2)))
struct BackgroundSettingsTests {
    /// Settings that cannot be written down: docs/background.md names these, and no others.
    enum Kept: String, CaseIterable, Sendable {
        case proxyResolver, proxyConfigurations, clientIdentities, appTransportSecurity, negotiateHosts, mock
        case basicCredentialsSentAhead, hostResolver, maximumConnectionLifetime, timeoutIntervalForConnection
        case connectionProbeInterval, maximumDecodedBytes, maximumDecodedRatio
        case condition = "serverTrustEvaluation, a condition"
        case mistake = "serverTrustEvaluation, a mistake"
        case depth = "serverTrustEvaluation, nested deeper than is read"

        func set(in configuration: URLSessionConfiguration, for url: URL) throws {
            switch self {
            case .proxyResolver: configuration.proxyResolver = { _ in [.direct] }
            case .proxyConfigurations:
                var proxy = try #require(ProxyConfiguration(url: "127.0.0.1:9"))
                proxy.excludedDomains = ["127.0.0.1"]
                configuration.proxyConfigurations = [proxy]
            case .clientIdentities:
                let issued = try CertificateFactory.root("Clients").issue(.client("somebody"))
                configuration.clientIdentities = .allHosts(
                    try .pem(certificates: issued.certificate.pem, key: issued.identity.keyPEM))
            case .appTransportSecurity:
                configuration.appTransportSecurity = try .init(dictionary: ["NSAllowsArbitraryLoads": true])
            case .negotiateHosts: configuration.negotiateHosts = ["127.0.0.1"]
            case .mock:
                let mock = URLSession.Mock()
                mock.stub(url, .text("hello"))
                configuration.mock = mock
            case .basicCredentialsSentAhead:
                configuration.basicCredentialsSentAhead = [
                    url: URLCredential(user: "u", password: "p", persistence: .none)
                ]
            case .hostResolver: configuration.hostResolver = { _ in .init(["127.0.0.1"], timeToLive: 0) }
            case .maximumConnectionLifetime: configuration.maximumConnectionLifetime = 100
            case .timeoutIntervalForConnection: configuration.timeoutIntervalForConnection = 30
            case .connectionProbeInterval: configuration.connectionProbeInterval = 30
            case .maximumDecodedBytes: configuration.maximumDecodedBytes = 1000
            case .maximumDecodedRatio: configuration.maximumDecodedRatio = 1000
            case .condition: configuration.serverTrustEvaluation = .system.judging(asOf: .distantPast)
            case .mistake: configuration.serverTrustEvaluation = .anchors(pem: "none")
            case .depth:
                for level in 0..<20 {
                    let inner = configuration.serverTrustEvaluation
                    configuration.serverTrustEvaluation =
                        level.isMultiple(of: 2) ? .allOf([inner]) : .perHost([:], otherwise: inner)
                }
            }
        }
    }

    @Test(
        "B10.31: a session whose settings cannot be given to a helper carries its transfers out itself",
        arguments: Kept.allCases)
    func staysHere(setting: Kept) async throws {
        let folder = BackgroundFolder()
        let configuration = folder.configuration(helper: true)
        try await withServer(router: { _ in .text("hello") }) { server in
            let url = try server.at("/")
            try setting.set(in: configuration, for: url)
            let name = String(setting.rawValue.prefix { $0 != "," })
            #expect(TransferSettings.of(configuration.values).uncarried == [name])
            try await withBackgroundSession(configuration) { session, scribe in
                session.downloadTask(with: url).resume()
                await scribe.ended.wait()
                #expect(scribe.transcript.calls == ["file 1 hello", "end 1 nil"])
                #expect(folder.helpers.isEmpty)
                #expect(server.stats.requests == (setting == .mock ? 0 : 1))
            }
        }
    }

    @Test(
        "B10.31: a socket is named so that a helper finds it, which works in another directory; as it is where that is too long"
    )
    func socketPaths() throws {
        let here = FileManager.default.currentDirectoryPath
        let long = String(repeating: "x", count: 106)
        for (path, carried) in [
            ("s", here + "/s"), ("./s", here + "/./s"), ("/run/s", "/run/s"), (long, long), ("", ""),
        ] {
            var values = ConfigurationValues()
            values.unixSocketPath = path
            #expect(TransferSettings.of(values).settings.unixSocketPath == carried)
            var request = URLRequest(url: try #require(URL(string: "http://h.test/")))
            request.unixSocketPath = path
            #expect(TransferRequest(request)?.unixSocketPath == carried)
        }
    }

    @Test("B10.31, B10.35: a hook that no system can run is left out, and the helper carries the transfers out")
    func impossibleHook() async throws {
        let folder = BackgroundFolder()
        let configuration = folder.configuration(helper: true)
        configuration.backgroundEventHook = ["/bin/true", "a\0b"]
        try await withServer(router: { _ in .text("hello") }) { server in
            try await withBackgroundSession(configuration) { session, scribe in
                session.downloadTask(with: try server.at("/")).resume()
                await scribe.ended.wait()
                #expect(scribe.transcript.calls == ["file 1 hello", "end 1 nil"])
            }
        }
    }

    @Test(
        "B10.39, B12.26: a session that carries its transfers itself has rules of its own for trying again, and calls no hooks"
    )
    func ownRules() async throws {
        let folder = BackgroundFolder()
        let configuration = folder.configuration(helper: true)
        configuration.maximumConnectionLifetime = 100
        configuration.retryPolicy = URLSession.RetryPolicy(maximumRetries: 3)
        let steps = Guarded(0)
        var hooks = URLSession.TraceHooks()
        hooks.loadStarted = { _ in steps.add(1) }
        hooks.connectionAssigned = { _, _ in steps.add(1) }
        configuration.traceHooks = [hooks]
        try await withServer(router: { _ in .text("busy", status: 429) }) { server in
            try await withBackgroundSession(configuration) { session, scribe in
                session.downloadTask(with: try server.at("/")).resume()
                await scribe.ended.wait()
                #expect(scribe.transcript.calls == ["file 1 busy", "end 1 nil"])
                #expect(server.stats.requests == 1)
            }
        }
        #expect(steps.value == 0)
    }

    /// Settings that a helper is given.
    private static let carried: Set<String> = [
        "identifier", "additionalHeaders", "timeoutIntervalForRequest", "timeoutIntervalForResource",
        "requestCachePolicy", "tlsMinimum", "tlsMaximum", "httpMaximumConnectionsPerHost", "http2",
        "requiresDNSSECValidation", "resumableUploads", "hostOverrides", "unixSocketPath", "localAddress",
        "networkInterface", "tlsKeyLogFile", "connectionProxyDictionary", "usesProxyEnvironment", "proxyEnvironment",
        "isDiscretionary", "sessionSendsLaunchEvents", "background",
    ]

    /// Settings that change no byte that a helper sends, or that stay with the program, which the transfers' owner asks
    /// or does without.
    private static let programs: Set<String> = [
        "networkServiceType", "allowsCellularAccess", "allowsExpensiveNetworkAccess", "allowsConstrainedNetworkAccess",
        "allowsUltraConstrainedNetworkAccess", "waitsForConnectivity", "httpShouldUsePipelining",
        "httpShouldSetCookies", "httpCookieAcceptPolicy", "httpCookieStorage", "engineShards",
        "shouldUseExtendedBackgroundIdleMode", "multipathServiceType", "usesClassicLoadingMode", "enablesEarlyData",
        "retryPolicy", "retryBudget", "interceptors", "traceHooks", "asksDelegatesAboutServers",
        "urlCredentialStorage", "dangerouslySendsBasicAheadInClear", "urlCache", "isEphemeral", "wallClock",
        "makeDelegateQueue", "honorsEarliestBeginDate", "protocolClasses", "compressesWebSocketMessages",
        "downloadFolder", "uploadPatience", "sharedContainerIdentifier", "keepsProofsApart",
    ]

    @Test("B10.31: each setting is carried, keeps its transfers in the program, or is the program's own")
    func complete() {
        let all = Mirror(reflecting: ConfigurationValues()).children.compactMap(\.label)
        let kept = Set(Kept.allCases.map { String($0.rawValue.prefix { $0 != "," }) })
        #expect(Set(all) == kept.union(Self.carried).union(Self.programs))
        #expect(all.count == kept.count + Self.carried.count + Self.programs.count, "no setting is two of these")
    }

    @Test("B10.31: docs/background.md names each setting that keeps transfers in the program")
    func named() throws {
        let page = try #require(ProjectFiles.text(of: "docs/background.md"))
        for setting in Kept.allCases {
            #expect(page.contains("`\(setting.rawValue.prefix { $0 != "," })`"), "\(setting)")
        }
    }

    @Test("B10.35: a hook without an absolute path is found by the program, which the helper could not do")
    func hook() {
        let onPath = BackgroundHelper.located(hook: ["sh", "-c"])
        #expect(onPath.count == 2 && onPath[0].hasPrefix("/") && onPath[0].hasSuffix("/sh") && onPath[1] == "-c")
        // However deep the working directory is, this leads to the root.
        let relative = String(repeating: "../", count: 40) + "bin/sh"
        let here = FileManager.default.currentDirectoryPath
        #expect(BackgroundHelper.located(hook: [relative, "a b"]) == [here + "/" + relative, "a b"])
        for hook in [[], ["/no/such", "x"], ["no such", "x"]] {
            #expect(BackgroundHelper.located(hook: hook) == hook)
        }
    }

    @Test("B10.31, B10.21: every other setting reaches the helper as it is, and the program's cache and cookies do not")
    func carried() throws {
        var values = ConfigurationValues()
        values.identifier = "test"
        values.additionalHeaders = AdditionalHeaders(dictionary: ["X-A": "b"])
        values.timeoutIntervalForRequest = 7.5
        values.timeoutIntervalForResource = 90
        values.requestCachePolicy = .reloadIgnoringLocalCacheData
        values.tlsMinimum = .TLSv13
        values.httpMaximumConnectionsPerHost = 3
        values.http2 = .priorKnowledge
        values.requiresDNSSECValidation = true
        values.resumableUploads = .always
        values.hostOverrides = ["a.test": "127.0.0.1"]
        values.unixSocketPath = "/run/socket"
        values.localAddress = "127.0.0.2"
        values.networkInterface = "lo"
        values.tlsKeyLogFile = URL(fileURLWithPath: "/tmp/keys")
        values.connectionProxyDictionary = ProxyDictionary(dictionary: ["HTTPEnable": 1, "HTTPProxy": "p.test"])
        values.serverTrustEvaluation = .pinnedKeys(["sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="])
        let (settings, uncarried) = TransferSettings.of(values)
        #expect(uncarried.isEmpty)
        #expect(settings.resourceTimeout == 90_000)
        let arrived = settings.configuration
        #expect(arrived.additionalHeaders.fields.map { [$0.name, $0.value] } == [["X-A", "b"]])
        #expect(arrived.timeoutIntervalForRequest == 7.5)
        #expect(arrived.requestCachePolicy == .reloadIgnoringLocalCacheData)
        #expect(arrived.tlsMinimum == .TLSv13 && arrived.tlsMaximum == .TLSv13)
        #expect(arrived.httpMaximumConnectionsPerHost == 3)
        #expect(arrived.http2 == .priorKnowledge)
        #expect(arrived.requiresDNSSECValidation)
        #expect(arrived.resumableUploads == .always)
        #expect(arrived.hostOverrides == values.hostOverrides)
        #expect(arrived.unixSocketPath == "/run/socket")
        #expect(arrived.localAddress == "127.0.0.2" && arrived.networkInterface == "lo")
        #expect(arrived.tlsKeyLogFile?.path == "/tmp/keys")
        #expect(TransferSettings.of(arrived).settings.proxies == settings.proxies && settings.proxies?.count == 2)
        #expect(arrived.serverTrustEvaluation == values.serverTrustEvaluation)
        // The owner counts a task's time itself, and has no cache, cookies or credentials: those are the program's.
        #expect(arrived.timeoutIntervalForResource == 0 && arrived.waitsForConnectivity)
        #expect(arrived.urlCache == nil && arrived.httpCookieStorage == nil && arrived.urlCredentialStorage == nil)
    }
}
