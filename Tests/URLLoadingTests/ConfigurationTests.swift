// Configurations and what follows from them (behaviour 1.1, 5.2, 6).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer

@Suite("Configurations")
struct ConfigurationTests {
    @Test("B1.9: default values")
    func defaults() {
        for configuration in [URLSessionConfiguration.default, .ephemeral] {
            #expect(configuration.requestCachePolicy == .useProtocolCachePolicy)
            #expect(configuration.timeoutIntervalForRequest == 60)
            #expect(configuration.timeoutIntervalForResource == 604_800)
            #expect(configuration.allowsCellularAccess)
            #expect(configuration.allowsExpensiveNetworkAccess)
            #expect(configuration.allowsConstrainedNetworkAccess)
            #expect(!configuration.allowsUltraConstrainedNetworkAccess)
            #expect(!configuration.httpShouldUsePipelining)
            #expect(configuration.httpMaximumConnectionsPerHost == 6)
            #expect(configuration.httpAdditionalHeaders == nil)
            #expect(configuration.identifier == nil)
            #expect(!configuration.shouldUseExtendedBackgroundIdleMode)
            #expect(!configuration.requiresDNSSECValidation)
            #expect(configuration.networkServiceType == .default)
            #expect(configuration.multipathServiceType == .none)
            #expect(configuration.tlsMinimumSupportedProtocolVersion == .TLSv12)
            #expect(configuration.tlsMaximumSupportedProtocolVersion == .TLSv13)
            #expect(configuration.usesClassicLoadingMode)
            #expect(!configuration.enablesEarlyData)
            #expect(configuration.hostOverrides.isEmpty && configuration.negotiateHosts.isEmpty)
            #expect(configuration.serverTrustEvaluation == .system)
            #expect(configuration.tlsKeyLogFile == nil)
        }
        #expect(URLSessionConfiguration.default !== URLSessionConfiguration.default)
    }

    @Test("B1.4: a copy has every value and is independent")
    func copies() throws {
        let configuration = URLSessionConfiguration.default
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.timeoutIntervalForRequest = 1.5
        configuration.timeoutIntervalForResource = 2.5
        configuration.networkServiceType = .video
        configuration.allowsCellularAccess = false
        configuration.allowsExpensiveNetworkAccess = false
        configuration.allowsConstrainedNetworkAccess = false
        configuration.allowsUltraConstrainedNetworkAccess = true
        configuration.requiresDNSSECValidation = true
        configuration.tlsMinimumSupportedProtocolVersion = .TLSv13
        configuration.tlsMaximumSupportedProtocolVersion = .TLSv13
        configuration.httpShouldUsePipelining = true
        configuration.httpAdditionalHeaders = ["X": "1"]
        configuration.httpMaximumConnectionsPerHost = 2
        configuration.shouldUseExtendedBackgroundIdleMode = true
        configuration.multipathServiceType = .handover
        configuration.usesClassicLoadingMode = false
        configuration.enablesEarlyData = true
        configuration.hostOverrides = ["a": "127.0.0.1"]
        configuration.negotiateHosts = ["a", "*.b"]
        configuration.serverTrustEvaluation = .anchors(pem: "x")
        configuration.tlsKeyLogFile = URL(fileURLWithPath: "/dev/null")
        let copy = try #require(configuration.copy() as? URLSessionConfiguration)
        #expect(copy !== configuration)
        #expect(copy.requestCachePolicy == .reloadIgnoringLocalCacheData)
        #expect(copy.timeoutIntervalForRequest == 1.5)
        #expect(copy.timeoutIntervalForResource == 2.5)
        #expect(copy.networkServiceType == .video)
        #expect(!copy.allowsCellularAccess && !copy.allowsExpensiveNetworkAccess)
        #expect(!copy.allowsConstrainedNetworkAccess && copy.allowsUltraConstrainedNetworkAccess)
        #expect(copy.requiresDNSSECValidation)
        #expect(copy.tlsMinimumSupportedProtocolVersion == .TLSv13)
        #expect(copy.httpShouldUsePipelining)
        #expect(copy.httpAdditionalHeaders as? [String: String] == ["X": "1"])
        #expect(copy.httpMaximumConnectionsPerHost == 2)
        #expect(copy.shouldUseExtendedBackgroundIdleMode)
        #expect(copy.multipathServiceType == .handover)
        #expect(!copy.usesClassicLoadingMode && copy.enablesEarlyData)
        #expect(copy.hostOverrides == ["a": "127.0.0.1"] && copy.negotiateHosts == ["a", "*.b"])
        #expect(copy.serverTrustEvaluation == .anchors(pem: "x"))
        #expect(copy.tlsKeyLogFile?.path == "/dev/null")
        copy.timeoutIntervalForRequest = 9
        #expect(configuration.timeoutIntervalForRequest == 1.5)
    }

    @Test("The deprecated TLS properties are views of the new ones")
    @available(*, deprecated)
    func deprecatedTLSViews() {
        let configuration = URLSessionConfiguration.default
        configuration.tlsMinimumSupportedProtocol = .tlsProtocol11
        #expect(configuration.tlsMinimumSupportedProtocolVersion == .TLSv11)
        configuration.tlsMinimumSupportedProtocolVersion = .TLSv13
        #expect(configuration.tlsMinimumSupportedProtocol == .tlsProtocol13)
        configuration.tlsMaximumSupportedProtocol = .tlsProtocol12
        #expect(configuration.tlsMaximumSupportedProtocolVersion == .TLSv12)
        configuration.tlsMaximumSupportedProtocol = .sslProtocolUnknown
        #expect(configuration.tlsMaximumSupportedProtocol == .tlsProtocol12)
    }

    @Test("B5.14: additional fields are added only where the request has none of that name")
    func additionalFields() async throws {
        let seen = Guarded<[String]>([])
        let router: LoopbackServer.Router = { request in
            seen.value = (0..<request.fields.count).map {
                "\(request.fields.name(at: $0)): \(request.fields.value(at: $0))"
            }
            return .status(200)
        }
        try await withServer(router: router) { server in
            let configuration = URLSessionConfiguration.default
            let headers: [AnyHashable: Any] = [
                "X-One": "configured", "x-two": "configured", NSString("X-Three"): NSString("object"), "X-Four": 4,
                5: "not a name", "X-Bad": "a\nb", "User-Agent": "mine",
            ]
            configuration.httpAdditionalHeaders = headers
            let session = URLSession(configuration: configuration)
            var request = URLRequest(url: try server.at("/"))
            request.setValue("requested", forHTTPHeaderField: "X-TWO")
            _ = try await session.data(for: request)
            let field = ProtocolUnderTest.field
            #expect(seen.value.contains(field("X-One: configured")))
            #expect(seen.value.contains(field("X-TWO: requested")))
            #expect(seen.value.contains(field("X-Three: object")))
            #expect(seen.value.contains(field("X-Four: 4")))
            #expect(seen.value.contains(field("User-Agent: mine")))
            #expect(seen.value.count { $0.lowercased().hasPrefix("x-two:") } == 1)
            #expect(!seen.value.contains { $0.hasPrefix(field("X-Bad")) || $0.hasPrefix("5") })
            _ = try await session.data(from: try server.at("/"))
            #expect(seen.value.contains("x-two: configured"))
        }
    }

    @Test("B16.1: httpMaximumConnectionsPerHost")
    func maximumConnections() async throws {
        try await withServer(router: { _ in .text("x") }) { server in
            let configuration = URLSessionConfiguration.default
            configuration.httpMaximumConnectionsPerHost = 1
            let session = URLSession(configuration: configuration)
            let url = try server.at("/")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<10 { group.addTask { _ = try await session.data(from: url) } }
                try await group.waitForAll()
            }
            #expect(server.stats.connectionsAccepted == 1)
        }
    }

    @Test("Host overrides: a name is loaded from a given address, and keeps its Host field")
    func hostOverrides() async throws {
        let hosts = Guarded<[String?]>([])
        try await withServer(router: { request in
            hosts.change { $0.append(request.fields.first(.host)) }
            return .text("x")
        }) { server in
            let configuration = URLSessionConfiguration.default
            configuration.hostOverrides = ["API.example.com": "127.0.0.1"]
            configuration.requiresDNSSECValidation = true
            let session = URLSession(configuration: configuration)
            _ = try await session.data(from: try server.at("/", host: "api.example.com"))
            #expect(hosts.value == ["api.example.com:\(server.port)"])
        }
    }

    @Test("B6.3, B6.4: a time-out set on the request wins over the configuration's, both ways")
    func requestTimeoutWins() async throws {
        let gate = ServerGate()
        try await withServer(router: { _ in .slow([.init("x", when: gate)]) }) { server in
            let patient = URLSessionConfiguration.default
            var request = URLRequest(url: try server.at("/"), timeoutInterval: 0.05)
            let prepared = request
            #expect(
                await codeThrown { _ = try await URLSession(configuration: patient).data(for: prepared) } == .timedOut)
            let hasty = URLSessionConfiguration.default
            hasty.timeoutIntervalForRequest = 0.05
            request = URLRequest(url: try server.at("/"))
            let plain = request
            #expect(await codeThrown { _ = try await URLSession(configuration: hasty).data(for: plain) } == .timedOut)
        }
    }

    @Test("B6.5, B6.14: the resource time-out ends a transfer that keeps moving; the response stays")
    func resourceTimeout() async throws {
        let gate = ServerGate()
        try await withServer(router: { _ in .slow([.init("x"), .init("y", when: gate)], framing: .chunked) }) {
            server in
            let configuration = URLSessionConfiguration.default
            configuration.timeoutIntervalForResource = 3
            let delegate = RecordingDelegate()
            let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
            let task = session.dataTask(with: try server.at("/"))
            task.resume()
            await delegate.transcript.completed.wait()
            let calls = delegate.transcript.calls
            #expect(calls.first == "created 1" && calls.suffix(2) == ["metrics 1", "complete -1001"])
            // A slow machine may not have come to the response in time.
            #expect(["response 200", "data"].starts(with: calls.dropFirst().dropLast(2)))
            if calls.contains("response 200") { #expect((task.response as? HTTPURLResponse)?.statusCode == 200) }
            let error = try #require(task.error as? URLError)
            #expect(error.failingURL == (try server.at("/")))
            session.invalidateAndCancel()
        }
    }

    @Test("B6.8: the resource time-out fires while a delegate is asked")
    func resourceTimeoutWhileAsked() async throws {
        try await withServer(router: { _ in .generated(length: 1_000_000) }) { server in
            let configuration = URLSessionConfiguration.default
            configuration.timeoutIntervalForResource = 3
            let delegate = RecordingDelegate(onResponse: { _, _ in })
            let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
            session.dataTask(with: try server.at("/")).resume()
            await delegate.transcript.completed.wait()
            let calls = delegate.transcript.calls
            #expect(calls.first == "created 1" && calls.suffix(2) == ["metrics 1", "complete -1001"])
            // A slow machine may not have come to the response in time.
            #expect(["response 200"].starts(with: calls.dropFirst().dropLast(2)))
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B6.7: time-outs that are zero, negative, infinite or no number neither fire nor trap",
        arguments: [
            0, -1, Double.infinity, .nan, .greatestFiniteMagnitude, -Double.infinity,
        ])
    func oddTimeouts(seconds: TimeInterval) async throws {
        try await withServer(router: { _ in .text("x") }) { server in
            let configuration = URLSessionConfiguration.default
            configuration.timeoutIntervalForRequest = seconds
            configuration.timeoutIntervalForResource = seconds
            let session = URLSession(configuration: configuration)
            _ = try await session.data(from: try server.at("/"))
            _ = try await session.data(for: URLRequest(url: try server.at("/"), timeoutInterval: seconds))
        }
    }

    @Test("Cache policies without a cache: B17.19, and the fields that a reload adds")
    func cachePolicies() async throws {
        let seen = Guarded<[String?]>([])
        try await withServer(router: { request in
            seen.value = [request.fields.first(.cacheControl), request.fields.first(.pragma)]
            return .status(200)
        }) { server in
            let configuration = URLSessionConfiguration.default
            configuration.urlCache = nil
            let session = URLSession(configuration: configuration)
            var request = URLRequest(url: try server.at("/"), cachePolicy: .returnCacheDataDontLoad)
            let cacheOnly = request
            #expect(await codeThrown { _ = try await session.data(for: cacheOnly) } == .resourceUnavailable)
            #expect(server.stats.requests == 0)
            request.cachePolicy = .reloadIgnoringLocalAndRemoteCacheData
            _ = try await session.data(for: request)
            #expect(seen.value == ["no-cache", "no-cache"])
            request.cachePolicy = .useProtocolCachePolicy
            _ = try await session.data(for: request)
            #expect(seen.value == [nil, nil])
        }
    }
}
