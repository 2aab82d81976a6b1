// The code of docs/connections.md does what the page says.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingSamplesSwift5
import URLLoadingSamplesSwift6
import URLLoadingTestSupport

/// A registry of one host.
private final class OneHost: URLLoadingSamplesSwift5.Registry, URLLoadingSamplesSwift6.Registry {
    let asked = Guarded<[String]>([])

    func instances(of host: String) async throws -> [String] {
        asked.withLock { $0.append(host) }
        return ["127.0.0.1"]
    }
}

@Suite("The guide to connections")
struct ConnectionsGuideTests {
    @Test(
        "A registry is asked, connections are opened beforehand, and the first request brings the password",
        arguments: LanguageMode.allCases)
    func guide(mode: LanguageMode) async throws {
        let router: LoopbackServer.Router = { .text($0.fields.first(.authorization) ?? "nobody") }
        try await withServer(router: router) { server in
            let url = try #require(URL(string: "http://registered.test:\(server.port)/"))
            let (configuration, registry) = (URLSessionConfiguration.ephemeral, OneHost())
            switch mode {
            case .swift5:
                URLLoadingSamplesSwift5.overrideHosts(configuration)
                URLLoadingSamplesSwift5.askRegistry(registry, configuration)
                URLLoadingSamplesSwift5.keepYoung(configuration)
                URLLoadingSamplesSwift5.introduce(as: "me", "secret", to: url, configuration)
            case .swift6:
                URLLoadingSamplesSwift6.overrideHosts(configuration)
                URLLoadingSamplesSwift6.askRegistry(registry, configuration)
                URLLoadingSamplesSwift6.keepYoung(configuration)
                URLLoadingSamplesSwift6.introduce(as: "me", "secret", to: url, configuration)
            }
            let careful = URLSession(configuration: configuration)
            configuration.dangerouslySendsBasicAheadInClear = true
            let session = URLSession(configuration: configuration)
            defer {
                careful.invalidateAndCancel()
                session.invalidateAndCancel()
            }
            let ready =
                switch mode {
                case .swift5: try await URLLoadingSamplesSwift5.openBeforehand(url, in: session)
                case .swift6: try await URLLoadingSamplesSwift6.openBeforehand(url, in: session)
                }
            // The kernel answers a connection before the server takes it.
            await server.wait { $0.connectionsAccepted == 4 }
            #expect(ready == 4 && server.stats.requests == 0)
            let (body, _) = try await session.data(from: url)
            #expect(String(decoding: body, as: UTF8.self) == "Basic bWU6c2VjcmV0")
            #expect(server.stats.connectionsAccepted == 4)
            #expect(registry.asked.withLock { $0 } == ["registered.test"])
            let (untold, _) = try await careful.data(from: url)
            #expect(String(decoding: untold, as: UTF8.self) == "nobody", "in clear nothing is told")
        }
    }
}
