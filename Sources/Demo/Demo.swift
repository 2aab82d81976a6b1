// What `make demo` runs: a server and a client in one process. Each step says what it does, shows what came of it and
// checks it; the command fails where one is not as expected.

import Foundation
import URLLoading
import URLLoadingLoopbackServer

/// The demonstration.
@main
enum Demo {
    static func main() async {
        let words = CommandLine.arguments.dropFirst()
        if words.first == "serve", words.count == 2, let folder = words.last { return await serve(folder) }
        guard words.isEmpty else {
            print("usage: URLLoadingDemo [serve FOLDER]")
            exit(64)
        }
        print("URLLoading, with a server made for the occasion (\(Demo.host) is this process)\n")
        do {
            try await run()
            print("Everything was as expected.")
        } catch let error as Unexpected {
            print("   ✗ \(error.what)\n\nNot everything was as expected.")
            exit(1)
        } catch {
            print("   ✗ \((error as NSError).localizedDescription)\n\nNot everything was as expected.")
            exit(1)
        }
    }

    /// Serves until the input ends: says its addresses, and puts the authority of the second into the folder.
    private static func serve(_ folder: String) async {
        do {
            let (root, identity) = try CertificateFactory.server("127.0.0.1", "localhost")
            let plain = try LoopbackServer.start(router: Site.answer)
            let secure = try LoopbackServer.start(.init(tls: ServerTLS(identity: identity)), router: Site.answer)
            let authority = URL(filePath: folder, directoryHint: .isDirectory).appending(path: "authority.pem")
            try Data(root.pem.utf8).write(to: authority)
            for line in [plain.url("/"), secure.url("/"), authority.path] {
                FileHandle.standardOutput.write(Data((line + "\n").utf8))
            }
            while readLine() != nil {}
            await plain.stop()
            await secure.stop()
        } catch {
            print("\(error)")
            exit(1)
        }
    }

    private static func run() async throws {
        let (root, identity) = try CertificateFactory.server(host)
        let plain = try LoopbackServer.start(router: Site.answer)
        let secure = try LoopbackServer.start(.init(tls: ServerTLS(identity: identity)), router: Site.answer)

        let configuration = URLSessionConfiguration.ephemeral
        // The server is in this process.
        configuration.usesProxyEnvironment = false
        configuration.hostOverrides = [host: "127.0.0.1"]
        let distrusting = URLSession(configuration: configuration)
        configuration.serverTrustEvaluation = .anchors(pem: root.pem)
        let trusting = URLSession(configuration: configuration)

        try await plainRequest(trusting, plain)
        let first = try await trustedRequest(trusting, secure)
        try await refusedRequest(distrusting, secure)
        let rest = try await concurrentRequests(trusting, secure)
        TimeTable.print([("first", first), ("next", rest.first), ("last", rest.last)])

        trusting.invalidateAndCancel()
        distrusting.invalidateAndCancel()
        await plain.stop()
        await secure.stop()
    }

    private static func plainRequest(_ session: URLSession, _ server: LoopbackServer) async throws {
        print("1  A plain GET")
        let answer = try await Exchange(session, server.url("/hello", host: host))
        try expect(answer.status == 200 && answer.text == "Hello!\n", "the answer is \(answer.summary)")
        print("   ✓ \(answer.url): \(answer.summary)\n")
    }

    private static func trustedRequest(
        _ session: URLSession, _ server: LoopbackServer
    ) async throws -> URLSessionTaskTransactionMetrics? {
        print("2  The same over HTTPS, trusted through the anchor of the demo's own authority")
        let answer = try await Exchange(session, server.url("/hello", host: host))
        try expect(answer.status == 200 && answer.text == "Hello!\n", "the answer is \(answer.summary)")
        try expect(answer.metrics?.negotiatedTLSProtocolVersion == .TLSv13, "the connection is not TLS 1.3")
        print("   ✓ \(answer.url): \(answer.summary), TLS 1.3\n")
        return answer.metrics
    }

    private static func refusedRequest(_ session: URLSession, _ server: LoopbackServer) async throws {
        print("3  The same over HTTPS, without that anchor")
        let requestsBefore = server.stats.requestsBegun
        do {
            let answer = try await Exchange(session, server.url("/hello", host: host))
            throw Unexpected("the server was trusted: \(answer.summary)")
        } catch let error as URLError {
            try expect(error.code == .serverCertificateUntrusted, "the error is \(error.code)")
            try expect(server.stats.requestsBegun == requestsBefore, "the request was sent all the same")
            print("   ✓ refused with \(error.code.rawValue), before a byte of the request was sent:")
            print("     \((error as NSError).localizedDescription)\n")
        }
    }

    private static func concurrentRequests(
        _ session: URLSession, _ server: LoopbackServer
    ) async throws -> [URLSessionTaskTransactionMetrics?] {
        print("4  Ten concurrent requests, then ten more")
        var metrics: [URLSessionTaskTransactionMetrics?] = []
        for round in 1...2 {
            let answers = try await withThrowingTaskGroup { group in
                for number in 1...10 {
                    group.addTask { try await Exchange(session, server.url("/slow?\(number)", host: host)) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let reused = answers.count { $0.metrics?.isReusedConnection ?? false }
            try expect(answers.count == 10 && answers.allSatisfy { $0.status == 200 }, "an answer is missing")
            try expect(reused >= (round == 1 ? 4 : 10), "only \(reused) of ten requests found a connection to reuse")
            print("   ✓ round \(round): 10 answers, \(reused) of them over a connection that was open already")
            metrics += answers.map(\.metrics)
        }
        let stats = server.stats
        // One handshake more than connections were kept: the one that step 3 refused.
        let connections = stats.connectionsAccepted - 1
        try expect(connections <= 6, "\(connections) connections for one host are more than the limit of 6")
        print(
            "   ✓ the server counted \(stats.requests) requests on \(connections) connections, "
                + "\(stats.resumedHandshakes) of them with a resumed TLS session\n")
        return metrics
    }

    static let host = "demo.test"

    private static func expect(_ condition: Bool, _ otherwise: @autoclosure () -> String) throws {
        guard condition else { throw Unexpected(otherwise()) }
    }
}

/// Something that the demonstration did not expect.
struct Unexpected: Error {
    let what: String

    init(_ what: String) {
        self.what = what
    }
}
