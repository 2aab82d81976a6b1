// A custom protocol that does what the script for the request's host says. Tests run at the same time, and classes are
// all that a session is told, so each script has a host of its own.

import Foundation
import URLLoading
import URLLoadingTestSupport

/// The script of all instances for one host, and a record of their calls.
final class ProtocolScript: Sendable {
    typealias Work = @Sendable (Held) -> Void

    /// An instance with its client, for any thread.
    struct Held: @unchecked Sendable {
        // Safe to share: the tests use the instance only as an argument of its client's methods.
        let instance: URLProtocol

        var client: (any URLProtocolClient)? { instance.client }
        var request: URLRequest { instance.request }

        func respond(
            _ status: Int = 200, _ fields: [String: String] = [:], policy: URLCache.StoragePolicy = .notAllowed
        ) {
            guard let url = request.url,
                let response = HTTPURLResponse(
                    url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
            else { return }
            client?.urlProtocol(instance, didReceive: response, cacheStoragePolicy: policy)
        }

        func respond(_ response: URLResponse) {
            client?.urlProtocol(instance, didReceive: response, cacheStoragePolicy: .notAllowed)
        }

        func load(_ text: String) { load(Data(text.utf8)) }
        func load(_ data: Data) { client?.urlProtocol(instance, didLoad: data) }
        func finish() { client?.urlProtocolDidFinishLoading(instance) }
        func fail(_ error: any Error) { client?.urlProtocol(instance, didFailWithError: error) }

        func redirect(to url: URL, status: Int = 302) { redirect(to: URLRequest(url: url), status: status) }

        func redirect(to next: URLRequest, status: Int = 302) {
            guard let own = request.url, let url = next.url,
                let response = HTTPURLResponse(
                    url: own, statusCode: status, httpVersion: "HTTP/1.1",
                    headerFields: ["Location": url.absoluteString])
            else { return }
            client?.urlProtocol(instance, wasRedirectedTo: next, redirectResponse: response)
        }

        /// Answers with two responses, each with its part of the body.
        func answer(
            _ text: String, then status: Int, _ more: String, policy: URLCache.StoragePolicy = .notAllowed
        ) {
            respond(policy: policy)
            load(text)
            respond(status, policy: policy)
            load(more)
            finish()
        }

        /// Answers with a page.
        func answer(_ text: String, _ fields: [String: String] = [:]) {
            respond(200, fields)
            load(text)
            finish()
        }
    }

    let host: String
    let calls = Guarded<[String]>([])
    let started = Signal()
    let stopped = Signal()
    let instances = Guarded<[Held]>([])
    private let work: Work

    /// A script for a host that no other test has.
    init(_ work: @escaping Work) {
        host = "h\(UUID().uuidString.lowercased())"
        self.work = work
        Self.all.withLock { [host] in $0[host] = Reference(self) }
    }

    deinit { Self.all.withLock { [host] in $0[host] = nil } }

    func url(_ path: String = "/", scheme: String = "http") throws -> URL {
        guard let url = URL(string: "\(scheme)://\(host)\(path)") else { throw URLError(.badURL) }
        return url
    }

    func note(_ call: String) { calls.change { $0.append(call) } }

    fileprivate func start(_ instance: URLProtocol) {
        note("start")
        instances.change { $0.append(Held(instance: instance)) }
        started.fire()
        work(Held(instance: instance))
    }

    fileprivate func stop() {
        note("stop")
        stopped.fire()
    }

    private struct Reference: @unchecked Sendable {
        // Weak references may be read from any thread.
        weak var script: ProtocolScript?

        init(_ script: ProtocolScript) { self.script = script }
    }

    private static let all = Guarded<[String: Reference]>([:])

    static func of(_ request: URLRequest) -> ProtocolScript? {
        guard let host = request.url?.host else { return nil }
        return all.withLock { $0[host]?.script }
    }
}

/// Does what the script of the host says.
class ScriptedProtocol: URLProtocol {
    private var script: ProtocolScript? { ProtocolScript.of(request) }

    override class func canInit(with request: URLRequest) -> Bool {
        guard let script = ProtocolScript.of(request) else { return false }
        script.note("\(self) may")
        return true
    }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() { script?.start(self) }

    override func stopLoading() { script?.stop() }
}

/// A second class that plays scripts, for sessions that have to choose.
final class OtherProtocol: ScriptedProtocol {}

/// Takes no request, and notes that it was asked.
final class UnwillingProtocol: ScriptedProtocol {
    override class func canInit(with request: URLRequest) -> Bool {
        _ = super.canInit(with: request)
        return false
    }
}

/// A session that asks these classes first.
func protocolSession(
    _ delegate: (any URLSessionDelegate)? = nil, _ classes: [AnyClass] = [ScriptedProtocol.self],
    _ change: (URLSessionConfiguration) -> Void = { _ in }
) -> URLSession {
    visitor(delegate) { configuration in
        configuration.protocolClasses = classes
        change(configuration)
    }
}

/// An error of a domain that is not the library's.
struct OddError: Error, Equatable {
    let number: Int
}

extension URLSession {
    /// What the handler of a data task gets.
    func handled(_ request: URLRequest) async -> (Data?, URLResponse?, (any Error)?) {
        await withHandover { continuation in
            dataTask(with: request) { continuation.resume(returning: ($0, $1, $2)) }.resume()
        }
    }

    func handled(_ url: URL) async -> (Data?, URLResponse?, (any Error)?) { await handled(URLRequest(url: url)) }
}
