// The code of docs/retrying.md does what the page says.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingSamplesSwift5
import URLLoadingSamplesSwift6
import URLLoadingTestSupport

@Suite("The guide to trying again")
struct RetryGuideTests {
    @Test("A session tries again, a request does not, and a program knows better", arguments: LanguageMode.allCases)
    func guide(mode: LanguageMode) async throws {
        let counts = Guarded<[String: Int]>([:])
        try await withServer(router: { request in
            let path = String(request.path)
            let count = counts.withLock { counts in
                counts[path, default: 0] += 1
                return counts[path] ?? 0
            }
            return count == 1 ? .text("not yet", status: path == "/copied" ? 404 : 503) : .text("there")
        }) { server in
            let url = try #require(URL(string: server.url("/page")))
            let copied = try #require(URL(string: server.url("/copied")))
            let (configuration, single, policy) =
                switch mode {
                case .swift5:
                    (
                        URLLoadingSamplesSwift5.retryingConfiguration(), URLLoadingSamplesSwift5.singleAttempt(url),
                        URLLoadingSamplesSwift5.knowingPolicy()
                    )
                case .swift6:
                    (
                        URLLoadingSamplesSwift6.retryingConfiguration(), URLLoadingSamplesSwift6.singleAttempt(url),
                        URLLoadingSamplesSwift6.knowingPolicy()
                    )
                }
            let session = URLSession(configuration: configuration)
            defer { session.invalidateAndCancel() }
            let (_, refused) = try await session.data(for: single)
            #expect((refused as? HTTPURLResponse)?.statusCode == 503)
            var known = URLRequest(url: copied)
            known.retryPolicy = policy
            let (body, _) = try await session.data(for: known)
            #expect(String(decoding: body, as: UTF8.self) == "there")
            counts.withLock { $0 = [:] }
            let (page, _) = try await session.data(from: url)
            #expect(String(decoding: page, as: UTF8.self) == "there")
        }
    }
}
