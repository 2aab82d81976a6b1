// README.md's section about testing one's own code.

import Foundation
import URLLoading

/// What is tested: a client of some server.
public struct UserClient: Sendable {
    /// What a test gives it in place of a session that loads.
    public let session: URLSession
    /// Where the server has its list.
    public let users: URL

    /// A client that loads by this session.
    public init(session: URLSession, users: URL) {
        self.session = session
        self.users = users
    }

    /// The names that the server knows.
    public func names() async throws -> [String] {
        let (data, _) = try await session.data(from: users)
        return try JSONDecoder().decode([String].self, from: data)
    }

    /// Adds one.
    public func add(_ name: String) async throws {
        var request = URLRequest(url: users)
        request.httpMethod = "POST"
        request.httpBody = try JSONEncoder().encode([name])
        _ = try await session.data(for: request)
    }
}

/// The example: says what it found.
public func testUserClient(_ users: URL) async throws -> [String] {
    let mock = URLSession.Mock()
    mock.stub(users, method: "GET", .text(#"["Ann"]"#), .failure(URLError(.notConnectedToInternet)))
    mock.stub(users, method: "POST", .response(status: 201).delayed(by: .milliseconds(10)))

    let client = UserClient(session: mock.session(), users: users)
    let names = try await client.names()  // ["Ann"]
    try await client.add("Bea")
    let sent = mock.requests.last?.httpBody  // ["Bea"]
    // The next call of names() finds no network, and any other URL an error that names it.
    let problem = await Result.of { try await client.names() }
    return names + [String(decoding: sent ?? Data(), as: UTF8.self), "\(problem)"]
}

extension Result where Failure == any Error {
    /// What came of a call, in a word.
    static func of(_ call: () async throws -> Success) async -> String {
        do {
            _ = try await call()
            return "fine"
        } catch {
            return "\((error as? URLError)?.code.rawValue ?? 0)"
        }
    }
}
