// The interceptors of a simulated program: names that requests bear in their order, one that asks again where the
// server was busy, and one that answers in the server's place. They write down the requests that come and go, and
// complain where that is out of order.

import Foundation
import URLLoading

/// What the interceptors of a program have seen.
//
// `@unchecked Sendable`: one thread plays, and there is no other in the process.
final class Chain: @unchecked Sendable {
    private unowned let world: World
    private let errands: [Errand]
    /// How many interceptors each errand is in, and how often it came to the last.
    private(set) var inside: [Int: Int] = [:]
    private(set) var loads: [Int: Int] = [:]

    init(_ world: World, _ errands: [Errand]) {
        self.world = world
        self.errands = errands
    }

    /// What requests bear that have come by all of them.
    static let mark = "outer,inner"

    /// The outermost first.
    var interceptors: [any URLSession.Interceptor] {
        [
            Link(chain: self, depth: 0) { try await $1(Chain.adding("outer", to: $0)) },
            Link(chain: self, depth: 1) { request, next in
                let errand = try self.errand(of: request)
                guard errand.isReplaced else { return try await next(request) }
                self.world.tell("errand \(errand.number): an interceptor answers")
                let fields = ["X-Errand": errand.mark(0)]
                guard let url = request.url,
                    let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: fields)
                else { throw URLError(.badURL) }
                return URLSession.InterceptedAnswer(response, body: .init(data: Data(errand.body(0))))
            },
            Link(chain: self, depth: 2) { request, next in
                let answer = try await next(request)
                guard answer.statusCode == 503 else { return answer }
                self.world.tell("errand \(try self.errand(of: request).number): an interceptor asks again")
                return try await next(request)
            },
            Link(chain: self, depth: 3) {
                self.loads[try self.errand(of: $0).number, default: 0] += 1
                return try await $1(Chain.adding("inner", to: $0))
            },
        ]
    }

    private static func adding(_ name: String, to request: URLRequest) -> URLRequest {
        var request = request
        request.addValue(name, forHTTPHeaderField: "X-Chain")
        return request
    }

    private func errand(of request: URLRequest) throws -> Errand {
        guard let number = request.value(forHTTPHeaderField: "X-Number").flatMap({ Int($0) }),
            errands.indices.contains(number)
        else { throw URLError(.unknown) }
        return errands[number]
    }

    private func pass(
        _ request: URLRequest, _ depth: Int, _ step: () async throws -> URLSession.InterceptedAnswer
    ) async throws -> URLSession.InterceptedAnswer {
        let errand = try errand(of: request)
        if !errand.isAwaited { world.complain("errand \(errand.number): a task went through interceptors") }
        if inside[errand.number, default: 0] != depth {
            world.complain("errand \(errand.number): interceptor \(depth) is called out of order")
        }
        if errand.ends > 0 { world.complain("errand \(errand.number): an interceptor is called after its end") }
        inside[errand.number] = depth + 1
        defer {
            if inside[errand.number] != depth + 1 {
                world.complain("errand \(errand.number): interceptor \(depth) ends before those behind it")
            }
            inside[errand.number] = depth
        }
        return try await step()
    }

    private struct Link: URLSession.Interceptor {
        let chain: Chain
        let depth: Int
        let step: @Sendable (URLRequest, URLSession.InterceptorChain) async throws -> URLSession.InterceptedAnswer

        func intercept(
            _ request: URLRequest, next: URLSession.InterceptorChain
        ) async throws -> URLSession.InterceptedAnswer {
            try await chain.pass(request, depth) { try await step(request, next) }
        }
    }
}
