// Interceptors out of closures, and sessions that have them.

import Foundation
import URLLoading

/// Does what a closure says.
struct Intercepting: URLSession.Interceptor {
    let answer: @Sendable (URLRequest, URLSession.InterceptorChain) async throws -> URLSession.InterceptedAnswer

    init(
        _ answer:
            @escaping @Sendable (URLRequest, URLSession.InterceptorChain) async throws ->
            URLSession.InterceptedAnswer
    ) {
        self.answer = answer
    }

    func intercept(
        _ request: URLRequest, next: URLSession.InterceptorChain
    ) async throws -> URLSession.InterceptedAnswer {
        try await answer(request, next)
    }

    /// Writes down each request and each answer that goes by, under a name.
    static func noting(_ name: String, in book: Guarded<[String]>) -> Intercepting {
        Intercepting { request, next in
            book.change { $0.append("\(name) >") }
            let answer = try await next(request)
            book.change { $0.append("\(name) < \(answer.statusCode ?? 0)") }
            return answer
        }
    }

    /// Answers with this body, and does not ask the chain.
    static func answering(_ body: URLSession.InterceptedAnswer.Body, status: Int = 200) -> Intercepting {
        Intercepting { request, _ in try URLSession.InterceptedAnswer(.made(for: request, status: status), body: body) }
    }
}

extension URLResponse {
    /// A response to a request.
    static func made(for request: URLRequest, status: Int = 200) throws -> URLResponse {
        guard let url = request.url,
            let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: nil)
        else { throw URLError(.badURL) }
        return response
    }
}

extension URLSession {
    /// A session with these interceptors.
    static func intercepted(
        _ interceptors: [any URLSession.Interceptor], _ change: (URLSessionConfiguration) -> Void = { _ in }
    ) -> URLSession {
        made {
            $0.interceptors = interceptors
            change($0)
        }
    }
}
