// vsftpd as the server: plain and under TLS, over IPv4 and IPv6, both ways.

import Foundation
import Testing
import URLLoading
import URLLoadingTestSupport

@Suite("vsftpd", .enabled(if: Peers.vsftpd != nil, "vsftpd is not installed, or this is not root"))
struct VsftpdTests {
    private func session(_ server: Vsftpd, _ delegate: (any URLSessionDelegate)? = nil) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.serverTrustEvaluation = .anchors(pem: server.directory.anchor)
        configuration.connectionProxyDictionary = [:]
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    /// The ways to speak to it: over either family, plain and under TLS.
    static let ways = [(false, false), (true, false), (false, true), (true, true)]

    @Test("B14.20, B14.22: files, over IPv4 and IPv6, plain and under TLS", arguments: ways)
    func files(isIPv6: Bool, isProtected: Bool) async throws {
        let server = try await Vsftpd(isIPv6: isIPv6, isProtected: isProtected)
        let scheme = isProtected ? "ftps" : "ftp"
        let session = session(server, isIPv6 && isProtected ? TrustingTheSame() : nil)
        let (hello, response) = try await session.data(from: server.url("/hello.txt", scheme: scheme))
        #expect(String(decoding: hello, as: UTF8.self) == "Hello from vsftpd.\n")
        #expect(!(response is HTTPURLResponse))
        #expect(response.mimeType == "text/plain" && response.expectedContentLength == 19)
        let (spaced, page) = try await session.data(from: server.url("/a%20b/c%2520d.html", scheme: scheme))
        #expect(String(decoding: spaced, as: UTF8.self) == "spaced" && page.mimeType == "text/html")
        let (file, large) = try await session.download(from: server.url("/large.bin", scheme: scheme))
        let content = try Data(contentsOf: file)
        #expect(firstDifference(content, Vsftpd.large) == nil)
        #expect(large.expectedContentLength == 5_000_000)
        try FileManager.default.removeItem(at: file)
        session.invalidateAndCancel()
    }

    @Test("B9.27, B14.22: a download that was cancelled for data goes on by REST, plain and under TLS", arguments: ways)
    func resumed(isIPv6: Bool, isProtected: Bool) async throws {
        let server = try await Vsftpd(isIPv6: isIPv6, isProtected: isProtected, bytesPerSecond: 1_000_000)
        let url = try server.url("/large.bin", scheme: isProtected ? "ftps" : "ftp")
        let session = session(server, isIPv6 && isProtected ? TrustingTheSame() : nil)
        let failure = await #expect(throws: URLError.self) {
            let cutter = Cutter()
            let (file, _) = try await session.download(from: url, delegate: cutter)
            try FileManager.default.removeItem(at: file)
        }
        let data = try #require(failure?.downloadTaskResumeData)
        let (file, response) = try await session.download(resumeFrom: data)
        defer { try? FileManager.default.removeItem(at: file) }
        let content = try Data(contentsOf: file)
        #expect(firstDifference(content, Vsftpd.large) == nil)
        // Only the rest came.
        #expect((1..<5_000_000).contains(response.expectedContentLength))
        session.invalidateAndCancel()
    }

    @Test("B14.24: lists, directories and what is not there", arguments: [false, true])
    func listing(isProtected: Bool) async throws {
        let server = try await Vsftpd(isProtected: isProtected)
        let scheme = isProtected ? "ftps" : "ftp"
        let session = session(server)
        let (list, response) = try await session.data(from: server.url("/", scheme: scheme))
        #expect(response.mimeType == "text/ftp-dir-listing" && response.expectedContentLength == -1)
        let lines = String(decoding: list, as: UTF8.self)
        #expect(lines.contains("hello.txt\r\n") && lines.contains("incoming\r\n"))
        for (path, code) in [
            ("/incoming", URLError.Code.fileIsDirectory), ("/none", .fileDoesNotExist), ("/none/", .fileDoesNotExist),
        ] {
            let error = await #expect(throws: URLError.self) {
                _ = try await session.data(from: server.url(path, scheme: scheme))
            }
            #expect(error?.code == code)
            #expect(try error?.failingURL == server.url(path, scheme: scheme))
        }
        session.invalidateAndCancel()
    }

    @Test("B14.25: uploads of data and of files", arguments: ways)
    func uploads(isIPv6: Bool, isProtected: Bool) async throws {
        let server = try await Vsftpd(isIPv6: isIPv6, isProtected: isProtected)
        let scheme = isProtected ? "ftps" : "ftp"
        let session = session(server, isIPv6 && isProtected ? TrustingTheSame() : nil)
        let small = URLRequest(url: try server.url("/incoming/small", scheme: scheme))
        _ = try await session.upload(for: small, from: Data("little".utf8))
        #expect(server.stored("small") == Data("little".utf8))
        let large = URLRequest(url: try server.url("/incoming/large", scheme: scheme))
        _ = try await session.upload(
            for: large, fromFile: URL(fileURLWithPath: "\(server.directory.path)/files/large.bin"))
        #expect(server.stored("large") == Vsftpd.large)
        let refused = URLRequest(url: try server.url("/not-here", scheme: scheme))
        let error = await #expect(throws: URLError.self) {
            _ = try await session.upload(for: refused, from: Data("little".utf8))
        }
        #expect(error?.code == .noPermissionsToReadFile)
        session.invalidateAndCancel()
    }

    @Test("B14.21: passwords of the URL and of a delegate; a wrong one is −1013")
    func passwords() async throws {
        let server = try await Vsftpd(password: "secret")
        let plain = session(server)
        let (hello, _) = try await plain.data(from: server.url("/hello.txt", user: "ftp:secret@"))
        #expect(hello.count == 19)
        for user in ["", "ftp:wrong@"] {
            let error = await #expect(throws: URLError.self) {
                _ = try await plain.data(from: server.url("/hello.txt", user: user))
            }
            #expect(error?.code == .userAuthenticationRequired)
        }
        let delegate = Answering(user: "ftp")
        let asking = session(server, delegate)
        #expect(try await asking.data(from: server.url("/hello.txt")).0.count == 19)
        #expect(try await asking.data(from: server.url("/hello.txt", user: "ftp:wrong@")).0.count == 19)
        #expect(delegate.questions.methods == [NSURLAuthenticationMethodDefault, NSURLAuthenticationMethodDefault])
        for session in [plain, asking] { session.invalidateAndCancel() }
    }
}

/// Vouches for any server: the certificate does not name ::1.
private final class TrustingTheSame: NSObject, URLSessionDelegate {
    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        completionHandler(.useCredential, challenge.protectionSpace.serverTrust.map(URLCredential.init(trust:)))
    }
}
