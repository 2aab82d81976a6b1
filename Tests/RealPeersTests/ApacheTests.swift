// Apache's mod_auth_basic and mod_auth_digest: what its access log says about our rounds is the proof.

import Foundation
import Testing
import URLLoading
import URLLoadingWire

@Suite("Apache httpd", .enabled(if: Peers.apache != nil, "apache2 is not installed"))
struct ApacheTests {
    private static let methods = [
        ("basic", NSURLAuthenticationMethodHTTPBasic), ("digest", NSURLAuthenticationMethodHTTPDigest),
    ]

    @Test(
        "B2.76, B2.77, B2.83: a GET behind Basic and Digest, asked once; the next goes with the answer at once",
        arguments: methods)
    func get(folder: String, method: String) async throws {
        let apache = try await Apache()
        let delegate = Answering()
        let session = URLSession(configuration: .uncached, delegate: delegate, delegateQueue: nil)
        for _ in 1...2 {
            let (data, response) = try await session.data(from: apache.url("/\(folder)/hello"))
            // Required: the log would otherwise be waited for in vain.
            try #require((response as? HTTPURLResponse)?.statusCode == 200)
            #expect(String(decoding: data, as: UTF8.self) == "Hello behind \(folder).\n")
        }
        #expect(delegate.questions.methods == [method])
        let log = try await apache.log(3)
        #expect(log.map { $0.contains("status=401") } == [true, false, false])
        #expect(log[1].contains("status=200 user=user") && log[2].contains("status=200 user=user"))
        session.invalidateAndCancel()
    }

    @Test(
        "B16.51: a body that Apache compresses with Brotli arrives as it was",
        .enabled(if: CodingLibraries.system.brotli != nil, "libbrotlidec.so.1 is not installed"))
    func brotli() async throws {
        let apache = try await Apache()
        let session = URLSession(configuration: .uncached)
        let (data, response) = try await session.data(from: apache.url("/br"))
        #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Content-Encoding") == "br")
        #expect(String(decoding: data, as: UTF8.self) == String(repeating: "the same again, ", count: 4096))
        session.invalidateAndCancel()
    }

    @Test("B2.96: the body of a POST is sent again with the answer", arguments: methods)
    func post(folder: String, method: String) async throws {
        let apache = try await Apache()
        let session = URLSession(configuration: .ephemeral, delegate: Answering(), delegateQueue: nil)
        var request = URLRequest(url: try apache.url("/\(folder)/hello"))
        request.httpMethod = "POST"
        request.httpBody = Data(repeating: 0x78, count: 10_000)
        let (_, response) = try await session.data(for: request)
        try #require((response as? HTTPURLResponse)?.statusCode == 200)
        let log = try await apache.log(2)
        #expect(log[1].contains("status=200 user=user") && log[1].contains("method=POST"))
        session.invalidateAndCancel()
    }

    @Test("B2.44, B2.71: user and password in the URL", arguments: methods)
    func userInformation(folder: String, method: String) async throws {
        let apache = try await Apache()
        let session = URLSession(configuration: .ephemeral)
        let (data, response) = try await session.data(from: apache.url("/\(folder)/hello", user: "user:secret"))
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        #expect(String(decoding: data, as: UTF8.self) == "Hello behind \(folder).\n")
        session.invalidateAndCancel()
    }

    @Test(
        "B2.45, B2.46: with a wrong password, or without a delegate that knows one, the 401 is the answer",
        arguments: methods)
    func wrong(folder: String, method: String) async throws {
        let apache = try await Apache()
        let silent = URLSession(configuration: .ephemeral)
        let (_, refused) = try await silent.data(from: apache.url("/\(folder)/hello"))
        #expect((refused as? HTTPURLResponse)?.statusCode == 401)
        let delegate = Answering(password: "wrong")
        let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
        let (_, response) = try await session.data(from: apache.url("/\(folder)/hello"))
        #expect((response as? HTTPURLResponse)?.statusCode == 401)
        #expect(delegate.questions.methods == [method, method, method])
        silent.invalidateAndCancel()
        session.invalidateAndCancel()
    }
}
