// What a task waits for before a hop sets off is often the program's own code. It may never answer, and then the task's
// time ends the waiting.

import Dispatch
import Foundation
import Testing
import URLLoading
import URLLoadingTestSupport

@Suite("Time limits for what a task waits for before a hop", .timeLimit(.minutes(5)))
struct WaitLimitTests {
    /// Nothing is ever sent there.
    private static let address = "http://127.0.0.1:9/"

    /// Loads with a short resource time-out, and expects that the load times out.
    private func expectTimeOut(
        _ configuration: URLSessionConfiguration, saying text: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        configuration.timeoutIntervalForResource = 0.3
        let session = URLSession(configuration: configuration)
        let url = try #require(URL(string: Self.address))
        let error = await #expect(throws: URLError.self, sourceLocation: sourceLocation) {
            _ = try await session.data(from: url)
        }
        #expect(error?.code == .timedOut, sourceLocation: sourceLocation)
        #expect(error?.localizedDescription == text, sourceLocation: sourceLocation)
        session.invalidateAndCancel()
    }

    @Test("B6.8: a task whose cookie storage never answers ends when its time is over")
    func cookies() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = MuteStorage()
        try await expectTimeOut(configuration, saying: "The session's cookie storage did not answer in time.")
    }

    @Test("B6.8: a task whose cache never answers ends when its time is over")
    func cache() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = MuteCache(memoryCapacity: 1000, diskCapacity: 0)
        try await expectTimeOut(configuration, saying: "The session's cache did not answer in time.")
    }

    @Test("B6.8: a task whose protocol class never says whether it takes the request ends when its time is over")
    func protocolClass() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [MuteProtocol.self]
        try await expectTimeOut(configuration, saying: "The session's protocol classes did not answer in time.")
        MuteProtocol.gate.signal()
    }

    /// Takes questions, and answers none.
    private final class MuteStorage: HTTPCookieStorage, @unchecked Sendable {
        // Safe to share: it has no state of its own.
        override func getCookiesFor(
            _ task: URLSessionTask, completionHandler: @escaping @Sendable ([HTTPCookie]?) -> Void
        ) {}
    }

    private final class MuteCache: URLCache, @unchecked Sendable {
        // Safe to share: it has no state of its own.
        override func getCachedResponse(
            for dataTask: URLSessionDataTask, completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
        ) {}
    }

    private final class MuteProtocol: URLProtocol {
        static let gate = DispatchSemaphore(value: 0)

        override class func canInit(with request: URLRequest) -> Bool {
            gate.wait()
            gate.signal()
            return false
        }
    }
}
