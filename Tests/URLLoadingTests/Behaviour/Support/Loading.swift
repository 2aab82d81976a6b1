// What the tests of this target have in common: a session that trusts a server, and a load told as a value. Only the
// public API is used to load.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer

/// Runs `body` with a server that answers every request with these bytes and then does as `then` says.
func withAnswer<R>(
    _ bytes: String, then: [ScriptStep] = [.close], _ body: (LoopbackServer) async throws -> R
) async throws -> R {
    try await withServer(router: { _ in .script([.text(bytes)] + then) }, body)
}

/// The result of a load.
struct Load: Sendable {
    var status = 0
    var fields: [String: String] = [:]
    var body = Data()
    var error: URLError?

    /// The body as text.
    var text: String { String(decoding: body, as: UTF8.self) }
    /// The error's code, if it failed.
    var code: URLError.Code? { error?.code }
    /// The error underneath the error.
    var underlying: NSError? { (error?.userInfo[NSUnderlyingErrorKey] as? any Error).map { $0 as NSError } }
    /// The error's text for a person.
    var message: String { error?.localizedDescription ?? "" }

    /// Loads a request in a session of its own, or in the one given.
    init(_ request: URLRequest, in session: URLSession? = nil) async {
        do {
            let (data, response) = try await (session ?? URLSession(configuration: .ephemeral)).data(for: request)
            body = data
            let head = response as? HTTPURLResponse
            status = head?.statusCode ?? 0
            for (name, value) in head?.allHeaderFields ?? [:] {
                if let name = name as? String, let value = value as? String { fields[name] = value }
            }
        } catch {
            self.error = error as? URLError ?? URLError(.unknown, userInfo: [NSUnderlyingErrorKey: error])
        }
    }

    /// Loads a URL in a session of its own, or in the one given.
    init(_ url: URL, in session: URLSession? = nil) async {
        await self.init(URLRequest(url: url), in: session)
    }
}

extension URLRequest {
    /// A request with a method and, if wanted, a body.
    init(_ method: String, _ url: URL, body: String? = nil) {
        self.init(url: url)
        httpMethod = method
        httpBody = body.map { Data($0.utf8) }
    }
}

extension URLSession {
    /// A session without delegate after a change to the usual settings.
    static func made(_ change: (URLSessionConfiguration) -> Void = { _ in }) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        change(configuration)
        return URLSession(configuration: configuration)
    }
}
