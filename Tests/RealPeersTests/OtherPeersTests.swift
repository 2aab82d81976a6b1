// `openssl s_server` and Python's http.server: a TLS stack seen from its own side, and an HTTP/1.0 server that closes.

import Foundation
import Testing
import URLLoading

@Suite("openssl s_server", .enabled(if: Peers.openssl != nil, "openssl is not installed"))
struct OpenSSLServerTests {
    @Test("GET with TLS 1.2 and TLS 1.3, and resumption as the server sees it", arguments: ["1.2", "1.3"])
    func getAndResume(version: String) async throws {
        let server = try await OpenSSLServer(version == "1.2" ? "-tls1_2" : "-tls1_3")
        let configuration = URLSessionConfiguration.ephemeral
        configuration.serverTrustEvaluation = .anchors(pem: server.directory.anchor)
        configuration.hostOverrides = ["peers.test": "127.0.0.1"]
        let session = URLSession(configuration: configuration)
        let url = try #require(URL(string: "https://peers.test:\(server.port)/"))

        let (first, response) = try await session.data(from: url)
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        #expect(String(decoding: first, as: UTF8.self).contains("New, TLSv\(version)"))
        // The page ends with the connection, so the second request needs a new one.
        let (second, _) = try await session.data(from: url)
        #expect(String(decoding: second, as: UTF8.self).contains("Reused, TLSv\(version)"))
        session.invalidateAndCancel()
    }
}

@Suite("Python's http.server", .enabled(if: Peers.python != nil, "python3 is not installed"))
struct PythonServerTests {
    @Test("B16.4: GET from an HTTP/1.0 server, which closes after each answer")
    func get() async throws {
        let server = try await PythonServer()
        let session = URLSession(configuration: .uncached)
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/hello.txt"))
        for _ in 1...2 {
            let (data, response) = try await session.data(from: url)
            #expect(String(decoding: data, as: UTF8.self) == "Hello from Python.\n")
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            #expect(response.mimeType == "text/plain")
        }
        #expect(try await server.log(2).allSatisfy { $0.contains("\"GET /hello.txt HTTP/1.1\" 200") })
        session.invalidateAndCancel()
    }

    @Test("B1.72: a missing file is an answer with status 404, not an error")
    func missing() async throws {
        let server = try await PythonServer()
        let session = URLSession(configuration: .ephemeral)
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/nowhere"))
        let (data, response) = try await session.data(from: url)
        #expect((response as? HTTPURLResponse)?.statusCode == 404)
        #expect(String(decoding: data, as: UTF8.self).contains("File not found"))
        session.invalidateAndCancel()
    }
}
