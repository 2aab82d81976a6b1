// The code of docs/interceptors.md, which SampleTests looks for here block by block.

import Foundation
import URLLoading

/// Adds a field to whatever is asked for.
public struct ClientName: URLSession.Interceptor {
    /// Stands between a call and its loads.
    public func intercept(
        _ request: URLRequest, next: URLSession.InterceptorChain
    ) async throws -> URLSession.InterceptedAnswer {
        var request = request
        request.setValue("almanac/3", forHTTPHeaderField: "X-Client")
        return try await next(request)
    }
}

/// A session whose requests bear the program's name.
public func namedSession() -> URLSession {
    let configuration = URLSessionConfiguration.default
    configuration.interceptors = [ClientName()]
    return URLSession(configuration: configuration)
}

/// Shows a token to a service, and gets another one when it has expired: one, for however many requests wait for it.
public actor TokenKeeper: URLSession.Interceptor {
    private let host: String
    private let fetchToken: @Sendable (URLSession) async throws -> String
    private var token: String?
    private var refresh: Task<String, any Error>?

    /// Keeps a token for a host, which `fetchToken` gets anew.
    public init(host: String, token: String?, fetchToken: @escaping @Sendable (URLSession) async throws -> String) {
        self.host = host
        self.token = token
        self.fetchToken = fetchToken
    }

    /// Stands between a call and its loads.
    public func intercept(
        _ request: URLRequest, next: URLSession.InterceptorChain
    ) async throws -> URLSession.InterceptedAnswer {
        // The token is for this service, and for no other.
        guard request.url?.scheme == "https", request.url?.host() == host else { return try await next(request) }
        let shown = try await validToken(by: next.session)
        let answer = try await next(request.showing(shown))
        guard answer.statusCode == 401 else { return answer }
        let fresh = try await validToken(other: shown, by: next.session)
        // Once: who is refused with a new token is refused.
        return try await next(request.showing(fresh))
    }

    private func validToken(other refused: String? = nil, by session: URLSession) async throws -> String {
        // Others may have got a new one while this request was on its way.
        if let token, token != refused { return token }
        if let refresh { return try await refresh.value }
        // A task of its own: that one request is cancelled ends it for none of the others.
        let refresh = Task {
            defer { self.refresh = nil }
            let fresh = try await fetchToken(session)
            token = fresh
            return fresh
        }
        self.refresh = refresh
        return try await refresh.value
    }
}

extension URLRequest {
    fileprivate func showing(_ token: String) -> URLRequest {
        var request = self
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        return request
    }
}

/// A session that keeps a token for a service.
public func signedInSession(
    host: String, tokenURL: URL, configuration: URLSessionConfiguration = .default
) -> URLSession {
    let keeper = TokenKeeper(host: host, token: nil) { session in
        // By the session itself: an interceptor's own loads do not come back to it.
        let (data, response) = try await session.data(from: tokenURL)
        guard (response as? HTTPURLResponse)?.statusCode == 200 else {
            throw URLError(.userAuthenticationRequired)
        }
        return String(decoding: data, as: UTF8.self)
    }
    configuration.interceptors = [keeper]
    return URLSession(configuration: configuration)
}

/// Answers from a table what is in it.
public struct Rehearsal: URLSession.Interceptor {
    /// The answers, by the paths of their URLs.
    public let texts: [String: String]

    /// Answers with these texts.
    public init(texts: [String: String]) {
        self.texts = texts
    }

    /// Stands between a call and its loads.
    public func intercept(
        _ request: URLRequest, next: URLSession.InterceptorChain
    ) async throws -> URLSession.InterceptedAnswer {
        guard let url = request.url, let text = texts[url.path()],
            let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil)
        else { return try await next(request) }
        return URLSession.InterceptedAnswer(response, body: .init(data: Data(text.utf8)))
    }
}

/// Tells how long bodies are, while they go by.
public struct BodyMeter: URLSession.Interceptor {
    /// Gets the length of each piece.
    public let note: @Sendable (Int) -> Void

    /// Tells `note` each length.
    public init(note: @escaping @Sendable (Int) -> Void) {
        self.note = note
    }

    /// Stands between a call and its loads.
    public func intercept(
        _ request: URLRequest, next: URLSession.InterceptorChain
    ) async throws -> URLSession.InterceptedAnswer {
        var answer = try await next(request)
        answer.body = .init(
            pieces: answer.body.map { [note] piece in
                note(piece.count)
                return piece
            })
        return answer
    }
}
