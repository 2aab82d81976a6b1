// nginx with HTTP/2 is reloaded under load: its old workers say goodbye on the connections that they have, with streams
// under way on them, and no request may be lost or carried out twice.
//
// The suite does it a few times. `URLLOADING_RELOADS=20 URLLOADING_RATE=1000` asks for more, and for the figures.

import Foundation
import Testing
import URLLoading
import URLLoadingTestSupport

@Suite(
    "nginx over HTTP/2, reloaded", .enabled(if: Peers.nginx != nil, "nginx is not installed"), .timeLimit(.minutes(5)))
struct NginxReloadTests {
    private struct WrongAnswer: Error {
        let status: Int?
        let text: String
    }

    private static func asked(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }

    @Test("H7.1, H7.10, H2.8: no request is lost, and none is carried out twice")
    func reloaded() async throws {
        let reloads = max(1, Self.asked("URLLOADING_RELOADS") ?? 3)
        let rate = max(1, Self.asked("URLLOADING_RATE") ?? 200)
        let origin = try PeerOrigin()
        let nginx = try await HTTP2PeerServer.reloadableNginx(before: origin)
        let session = try nginx.session()
        let load = PacedLoad(rate: rate)
        async let running: Void = load.run { number in try await Self.request(number, nginx, session) }
        for reload in 1...reloads {
            // Half a second of load before each.
            await load.outcome.wait { $0.over >= reload * rate / 2 }
            nginx.process.send(SIGHUP)
            // The old worker goes when its connections have ended: by its goodbye, and our closing them.
            _ = try await nginx.process.lines(reload, containing: "exited with code 0")
        }
        load.stop()
        await running
        let outcome = load.outcome.value
        #expect(outcome.failures.isEmpty, "\(outcome.failures.count) lost, among them \(outcome.failures.prefix(5))")
        let log = try await nginx.process.lines(outcome.answered, containing: "entry ")
        let numbers = log.compactMap { $0.split(separator: " ").first { $0.hasPrefix("/") } }
        #expect(Set(numbers).count == numbers.count && numbers.count == outcome.over, "\(numbers.count) carried out")
        let connections = Set(log.compactMap { $0.split(separator: " ").first { $0.hasPrefix("connection=") } })
        // The load may end before a request has needed one after the last reload.
        #expect(connections.count >= reloads, "each reload ends a connection")
        if Self.asked("URLLOADING_RELOADS") != nil {
            print(
                "\(reloads) reloads, \(outcome.over) requests in \(outcome.time), \(outcome.failures.count) lost, "
                    + "\(connections.count) connections, the slowest request took \(outcome.longest)")
        }
        session.invalidateAndCancel()
        nginx.process.end()
        await origin.server.stop()
    }

    /// Every tenth is a POST to the origin behind; nginx answers the others itself.
    private static func request(_ number: Int, _ nginx: HTTP2PeerServer, _ session: URLSession) async throws {
        let isPOST = number % 10 == 0
        var request = URLRequest(url: try nginx.url(isPOST ? "/echo?n=\(number)" : "/number?n=\(number)"))
        if isPOST {
            request.httpMethod = "POST"
            request.httpBody = Data("\(number)".utf8)
        }
        let (data, response) = try await session.data(for: request)
        let (status, text) = ((response as? HTTPURLResponse)?.statusCode, String(decoding: data, as: UTF8.self))
        guard status == 200, text == "\(number)" else { throw WrongAnswer(status: status, text: text) }
    }
}
