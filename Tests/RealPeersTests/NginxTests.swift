// nginx as the server: what its access log says about our connections is the proof.

import Foundation
import Testing
import URLLoading

@Suite("nginx", .enabled(if: Peers.nginx != nil, "nginx is not installed"))
struct NginxTests {
    private func session(_ nginx: Nginx) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.serverTrustEvaluation = .anchors(pem: nginx.directory.anchor)
        return URLSession(configuration: configuration)
    }

    @Test("GET over http and https, with TLS 1.2 and TLS 1.3")
    func get() async throws {
        let nginx = try await Nginx()
        let session = session(nginx)
        for (scheme, port) in [("http", nginx.plain), ("https", nginx.tls12), ("https", nginx.tls13)] {
            let (data, response) = try await session.data(from: nginx.url(scheme, port, "/hello"))
            #expect(String(decoding: data, as: UTF8.self) == "Hello from nginx.\n")
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Server")?.hasPrefix("nginx") == true)
        }
        let log = try await nginx.log(3)
        #expect(log[0].contains("tls=- "))
        #expect(log[1].contains("tls=TLSv1.2 "))
        #expect(log[2].contains("tls=TLSv1.3 "))
        session.invalidateAndCancel()
    }

    @Test("B16.4: requests in a row use one connection, over http and https", arguments: ["http", "https"])
    func keepAlive(scheme: String) async throws {
        let nginx = try await Nginx()
        let session = session(nginx)
        let port = scheme == "http" ? nginx.plain : nginx.tls13
        for number in 1...5 {
            _ = try await session.data(from: nginx.url(scheme, port, "/hello?\(number)"))
        }
        let log = try await nginx.log(5)
        for (index, line) in log.enumerated() { #expect(line.contains("request=\(index + 1) "), "\(line)") }
        session.invalidateAndCancel()
    }

    @Test("A second connection resumes the TLS session of the first, as the server sees it", arguments: ["1.2", "1.3"])
    func resumption(version: String) async throws {
        let nginx = try await Nginx()
        let session = session(nginx)
        let port = version == "1.2" ? nginx.tls12 : nginx.tls13
        for _ in 1...2 {
            let (data, _) = try await session.data(from: nginx.url("https", port, "/closing/hello"))
            #expect(String(decoding: data, as: UTF8.self) == "Hello from nginx.\n")
        }
        let log = try await nginx.log(2)
        #expect(log[0].contains("request=1 tls=TLSv\(version) reused=. "), "\(log[0])")
        #expect(log[1].contains("request=1 tls=TLSv\(version) reused=r "), "\(log[1])")
        session.invalidateAndCancel()
    }

    @Test(
        "B2.76, B2.77, B2.45: Basic at nginx over http and https: asked once, sent ahead then; a wrong one is the 401")
    func basic() async throws {
        let nginx = try await Nginx()
        for (scheme, port) in [("http", nginx.plain), ("https", nginx.tls13)] {
            let (right, wrong) = (Answering(), Answering(password: "wrong"))
            for (delegate, statuses, count) in [(right, [200, 200], 1), (wrong, [401], 3)] {
                let configuration = URLSessionConfiguration.uncached
                configuration.serverTrustEvaluation = .anchors(pem: nginx.directory.anchor)
                let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
                for status in statuses {
                    let (_, response) = try await session.data(from: nginx.url(scheme, port, "/basic/hello"))
                    #expect((response as? HTTPURLResponse)?.statusCode == status)
                }
                #expect(
                    delegate.questions.methods
                        == [String](repeating: NSURLAuthenticationMethodHTTPBasic, count: count))
                session.invalidateAndCancel()
            }
        }
        let log = try await nginx.log(12)
        #expect(log.map { $0.contains("status=200 user=user ") }.prefix(3) == [false, true, true], "\(log)")
    }

    @Test("B16.49: a body that nginx compresses with gzip arrives as it was")
    func gzip() async throws {
        let nginx = try await Nginx()
        let session = session(nginx)
        let (data, _) = try await session.data(from: nginx.url("http", nginx.plain, "/long.txt"))
        #expect(String(decoding: data, as: UTF8.self) == String(repeating: "the same again, ", count: 4096))
        let log = try await nginx.log(1)
        #expect(log[0].hasSuffix("sent=gzip"), "\(log[0])")
        session.invalidateAndCancel()
    }

    @Test("B3.69: without its anchor the same server is refused, and no request reaches it")
    func refused() async throws {
        let nginx = try await Nginx()
        let distrusting = URLSession(configuration: .ephemeral)
        let url = try nginx.url("https", nginx.tls13, "/refused")
        let error = await #expect(throws: URLError.self) { try await distrusting.data(from: url) }
        #expect(error?.code == .serverCertificateUntrusted)
        let trusting = session(nginx)
        _ = try await trusting.data(from: nginx.url("https", nginx.tls13, "/hello"))
        #expect(try await nginx.log(1)[0].contains("/hello"))
        distrusting.invalidateAndCancel()
        trusting.invalidateAndCancel()
    }
}
