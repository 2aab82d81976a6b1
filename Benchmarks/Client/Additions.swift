// What a session can have that Apple's has not, in its plainest form: what it costs beside the same session without it.

import Foundation
import Synchronization

#if FOUNDATION_NETWORKING
    import FoundationNetworking

    extension ClientOptions.Addition {
        /// There is none of it.
        func apply(to configuration: URLSessionConfiguration) { Console.unsupported("an addition") }
    }
#else
    import URLLoading

    extension ClientOptions.Addition {
        /// How often something was called.
        private static let calls = Atomic<Int>(0)

        private static func count() { calls.add(1, ordering: .relaxed) }

        /// Puts it into a configuration.
        func apply(to configuration: URLSessionConfiguration) {
            switch self {
            case .hooks: configuration.traceHooks = [Self.counting]
            case .log: configuration.traceHooks = [.log(from: .debug) { _ in Self.count() }]
            case .retries: configuration.retryPolicy = URLSession.RetryPolicy()
            case .interceptor: configuration.interceptors = [Passing()]
            }
        }

        private static var counting: URLSession.TraceHooks {
            var hooks = URLSession.TraceHooks()
            hooks.loadStarted = { _ in count() }
            hooks.loadFinished = { _, _, _ in count() }
            hooks.exchangeStarted = { _ in count() }
            hooks.connectionAssigned = { _, _ in count() }
            hooks.requestSent = { _ in count() }
            hooks.responseReceived = { _, _ in count() }
            hooks.exchangeFinished = { _, _ in count() }
            return hooks
        }
    }

    private struct Passing: URLSession.Interceptor {
        func intercept(
            _ request: URLRequest, next: URLSession.InterceptorChain
        ) async throws -> URLSession.InterceptedAnswer {
            try await next(request)
        }
    }
#endif
