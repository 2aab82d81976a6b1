// The code of docs/observing.md, which SampleTests looks for here block by block.

import Foundation
import URLLoading

/// Lines on the standard output.
public func talkativeConfiguration() -> URLSessionConfiguration {
    let configuration = URLSessionConfiguration.default
    configuration.traceHooks = [.log(from: .debug) { line in print(line) }]
    return configuration
}

/// How long the answers of a server take to begin.
public final class FirstBytes: @unchecked Sendable {
    private let lock = NSLock()
    // `lock` guards both.
    private var sent: [Int: ContinuousClock.Instant] = [:]
    private var waits: [Duration] = []

    /// Follows nothing yet.
    public init() {}

    /// What was measured.
    public var all: [Duration] { lock.withLock { waits } }

    /// Hooks for a session, or for a request.
    public var hooks: URLSession.TraceHooks {
        var hooks = URLSession.TraceHooks()
        hooks.requestSent = { [self] exchange in
            lock.withLock { sent[exchange.number] = .now }
        }
        hooks.responseReceived = { [self] exchange, _ in
            lock.withLock {
                if let start = sent.removeValue(forKey: exchange.number) { waits.append(start.duration(to: .now)) }
            }
        }
        return hooks
    }
}

/// Says how a session is doing.
public func printLoad(of session: URLSession) async {
    let gauges = await session.gauges()
    print("\(gauges.busyConnections) connections are busy, \(gauges.waitingRequests) requests wait")
}

extension URLSession.TraceHooks {
    /// Lines for swift-log.
    public static func log(to logger: Logger) -> URLSession.TraceHooks {
        .log(from: .debug) { line in
            let level: Logger.Level =
                switch line.level {
                case .debug: .debug
                case .info: .info
                case .warning: .warning
                case .error: .error
                }
            logger.log(level: level, "\(line.message)", metadata: line.metadata.mapValues { .string($0) })
        }
    }
}

/// Keeps metrics of a session up to date until the session has ended.
public func measure(_ session: URLSession, as name: String, every seconds: TimeInterval = 10) async {
    let busy = Gauge(label: "\(name).open_connections", dimensions: [("state", "active")])
    let idle = Gauge(label: "\(name).open_connections", dimensions: [("state", "idle")])
    let waiting = Gauge(label: "\(name).waiting_requests")
    let requests = Counter(label: "\(name).requests")
    let received = Counter(label: "\(name).received_bytes")
    var before = URLSession.Gauges()
    for await now in session.gauges(every: seconds) {
        busy.record(now.busyConnections)
        idle.record(now.idleConnections)
        waiting.record(now.waitingRequests)
        requests.increment(by: now.totalRequests - before.totalRequests)
        received.increment(by: now.totalBytesReceived - before.totalBytesReceived)
        before = now
    }
}

/// A span for each call, and the field by which the server goes on with the trace.
public struct TracingInterceptor: URLSession.Interceptor {
    /// An interceptor without settings.
    public init() {}

    /// Stands between a call and its loads.
    public func intercept(
        _ request: URLRequest, next: URLSession.InterceptorChain
    ) async throws -> URLSession.InterceptedAnswer {
        try await withSpan(request.httpMethod ?? "GET", ofKind: .client) { span in
            span.attributes["http.request.method"] = .string(request.httpMethod ?? "GET")
            span.attributes["url.full"] = .string(request.url?.withoutQuery ?? "")
            span.attributes["server.address"] = .string(request.url?.host() ?? "")
            if let port = request.url?.port { span.attributes["server.port"] = .int(port) }
            var request = request
            InstrumentationSystem.instrument.inject(span.context, into: &request, using: FieldInjector())
            do {
                let answer = try await next(request)
                if let status = answer.statusCode {
                    span.attributes["http.response.status_code"] = .int(status)
                    if status >= 400 {
                        span.attributes["error.type"] = .string("\(status)")
                        span.setStatus(.init(code: .error))
                    }
                }
                return answer
            } catch {
                span.attributes["error.type"] = .string("\((error as NSError).domain) \((error as NSError).code)")
                throw error
            }
        }
    }
}

private struct FieldInjector: Injector {
    func inject(_ value: String, forKey key: String, into request: inout URLRequest) {
        request.setValue(value, forHTTPHeaderField: key)
    }
}

extension URL {
    /// What may be shown: no name, password or query.
    fileprivate var withoutQuery: String {
        guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return "" }
        (parts.user, parts.password, parts.query, parts.fragment) = (nil, nil, nil, nil)
        return parts.string ?? ""
    }
}
