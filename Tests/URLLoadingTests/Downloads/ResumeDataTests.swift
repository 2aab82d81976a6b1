// Resume data that are not what they should be: from elsewhere, torn, or forged to reach other files (B9.24, B9.32).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport
import URLLoadingWire

@Suite("Resume data")
struct ResumeDataTests {
    /// How a task made from data ends: the calls of its delegate.
    private func end(of data: Data) async -> (calls: [String], response: URLResponse?, request: URLRequest?) {
        let scribe = ResumptionScribe()
        let session = session(of: scribe)
        let task = session.downloadTask(withResumeData: data)
        task.resume()
        await scribe.transcript.completed.wait()
        session.invalidateAndCancel()
        return (scribe.transcript.calls, task.response, task.originalRequest)
    }

    @Test("B9.32, B9.34: resume data that cannot be read end with −1002 and without a response, in all three forms")
    func unreadable() async throws {
        for data in [Data(), Data("no resume data".utf8), Data(count: 1_000_000), Data("{}".utf8)] {
            let (calls, response, request) = await end(of: data)
            #expect(calls == ["created 1", "complete -1002"])
            #expect(response == nil)
            #expect(request == nil)
        }
        let session = session(of: nil)
        let code = await codeThrown { _ = try await session.download(resumeFrom: Data("no".utf8)) }
        #expect(code == .unsupportedURL)
        let done = Signal()
        let result = Guarded<(URL?, URLResponse?, URLError.Code?)>((nil, nil, nil))
        session.downloadTask(withResumeData: Data("no".utf8)) { location, response, error in
            result.value = (location, response, (error as? URLError)?.code)
            done.fire()
        }.resume()
        await done.wait()
        #expect(result.value.0 == nil && result.value.1 == nil && result.value.2 == .unsupportedURL)
        session.invalidateAndCancel()
    }

    @Test("B9.24, B9.32: resume data that were cut, and random bytes, are refused and crash nothing")
    func damaged() async throws {
        let half = HalfServer()
        try await withServer(router: half.router) { server in
            let data = try await halfOf(try server.at("/"))
            for count in stride(from: 0, to: data.count, by: 13) {
                #expect(await end(of: data.prefix(count)).calls == ["created 1", "complete -1002"])
            }
            var random = SeededRandom(seed: 9)
            for _ in 0..<200 {
                var bytes = [UInt8](repeating: 0, count: Int.random(in: 1...400, using: &random))
                for index in bytes.indices { bytes[index] = .random(in: 0...255, using: &random) }
                #expect(await end(of: Data(bytes)).calls == ["created 1", "complete -1002"])
            }
            try FileManager.default.removeItem(at: try partialFile(of: data))
        }
    }

    @Test("B9.24, B9.32: resume data with impossible numbers, foreign file names or another version are refused")
    func foreign() async throws {
        let half = HalfServer()
        try await withServer(router: half.router) { server in
            let data = try await halfOf(try server.at("/"))
            let file = try partialFile(of: data)
            let changes: [(String, Any)] = [
                ("version", 2), ("format", "something else"), ("bytes", -5), ("bytes", 0), ("bytes", Int64.max),
                ("bytes", 1e300), ("total", 4), ("total", -1), ("validator", ""), ("validator", "W/\"v1\""),
                ("validator", "a\"\r\nX: y"), ("validator", String(repeating: "a", count: 5000)), ("isTag", false),
                ("file", "../../../etc/passwd"), ("file", "/etc/passwd"), ("file", file.path), ("file", ""),
                ("file", "CFNetworkDownload_../../../abc.partial"), ("file", "CFNetworkDownload_abcdefghijkl.tmp"),
                ("file", "CFNetworkDownload_abc/efghijkl.partial"), ("request", ["url": "http://host/"]),
            ]
            for (key, value) in changes {
                var parts = try parts(of: data)
                parts[key] = value
                let changed = try JSONSerialization.data(withJSONObject: parts)
                #expect(await end(of: changed).calls == ["created 1", "complete -1002"], "\(key) \(value)")
            }
            var parts = try parts(of: data)
            var request = try #require(parts["request"] as? [String: Any])
            request["url"] = "file:///etc/passwd"
            parts["request"] = request
            let local = try JSONSerialization.data(withJSONObject: parts)
            #expect(await end(of: local).calls == ["created 1", "complete -1002"])
            #expect(half.asked.value == ["/"])
            #expect(text(of: file) == "hello")
            try FileManager.default.removeItem(at: file)
        }
    }

    @Test(
        "B9.24, B9.33: a download goes on in no link, directory, file with two names, or file that others may read",
        arguments: ["link", "hard link", "directory", "readable by others"])
    func planted(kind: String) async throws {
        let half = HalfServer()
        try await withServer(router: half.router) { server in
            let data = try await halfOf(try server.at("/"))
            let file = try partialFile(of: data)
            try FileManager.default.removeItem(at: file)
            let victim = FileManager.default.temporaryDirectory.appendingPathComponent("victim-\(UUID().uuidString)")
            try Data("precious".utf8).write(to: victim)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: victim.path)
            switch kind {
            case "link": try FileManager.default.createSymbolicLink(at: file, withDestinationURL: victim)
            case "hard link": try FileManager.default.linkItem(at: victim, to: file)
            case "directory": try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
            default:
                try Data("precious".utf8).write(to: file)
                try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
            }
            let scribe = await goOn(with: data)
            #expect(scribe.transcript.calls.contains("finished helloworld"))
            #expect(half.asked.value == ["/", "/"])
            #expect(text(of: victim) == "precious")
            if kind == "readable by others" { #expect(text(of: file) == "precious") }
            try FileManager.default.removeItem(at: victim)
            try FileManager.default.removeItem(at: file)
        }
    }

    @Test("B9.24: resume data hold the request's fields, and neither secret fields nor the user in its URL")
    func secrets() async throws {
        let seen = Guarded<[String]>([])
        let half = HalfServer()
        let router: LoopbackServer.Router = { request in
            seen.change { seen in
                seen.append(
                    ["X-Mine", "Authorization", "Cookie", "X-API-Key"].map {
                        request.fields.first(.init($0)) ?? "-"
                    }.joined(separator: " "))
            }
            return half.router(request)
        }
        try await withServer(router: router) { server in
            let url = try #require(URL(string: server.url("/").replacingOccurrences(of: "//", with: "//u:pass@")))
            var request = URLRequest(url: url)
            request.setValue("mine", forHTTPHeaderField: "X-Mine")
            request.setValue("Basic c2VjcmV0", forHTTPHeaderField: "Authorization")
            request.setValue("a=secret", forHTTPHeaderField: "Cookie")
            request.setValue("secret", forHTTPHeaderField: "X-API-Key")
            let scribe = ResumptionScribe.cancelling()
            let session = session(of: scribe)
            session.downloadTask(with: request).resume()
            await scribe.transcript.completed.wait()
            let data = try #require(scribe.error.value?.downloadTaskResumeData)
            let text = String(decoding: data, as: UTF8.self)
            for secret in ["secret", "c2VjcmV0", "pass"] { #expect(!text.contains(secret)) }
            _ = await goOn(with: data)
            #expect(seen.value == ["mine Basic c2VjcmV0 a=secret secret", "mine - - -"])
            session.invalidateAndCancel()
        }
    }
}
