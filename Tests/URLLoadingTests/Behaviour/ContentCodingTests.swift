// Behaviour 16.4, seen by a program: codings that are undone, left alone, or −1015.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer

@Suite("Content codings")
struct ContentCodingTests {
    private let plain = Array("A body that is long enough to be worth its compression. ".utf8)

    /// Loads a body under a coding's name.
    private func load(
        _ body: [UInt8], as coding: String, status: Int = 200, method: String = "GET",
        fields: [(String, String)] = []
    ) async throws -> Load {
        try await withServer(
            router: { _ in
                var answer = ServerResponse.bytes(body, status: status).adding("Content-Encoding", coding)
                for (name, value) in fields { answer = answer.adding(name, value) }
                return answer
            }
        ) { server in
            try await Load(URLRequest(method, server.at()))
        }
    }

    private func coded(_ format: Gzip.Format = .gzip) throws -> [UInt8] {
        try #require(Gzip.compress(plain, format: format))
    }

    @Test("B16.49: gzip and x-gzip are undone, several members are one body", arguments: ["gzip", "x-gzip", "GZip"])
    func gzip(name: String) async throws {
        let once = try await load(coded(), as: name)
        #expect(once.body == Data(plain))
        let twice = try await load(coded() + coded() + coded(), as: name)
        #expect(twice.body == Data(plain + plain + plain))
    }

    @Test("B16.50: deflate is undone with and without zlib's wrapping")
    func deflate() async throws {
        let wrapped = try await load(coded(.zlib), as: "deflate")
        let raw = try await load(coded(.raw), as: "deflate")
        #expect(wrapped.body == Data(plain) && raw.body == Data(plain))
    }

    @Test(
        "B16.52, B16.54, B17.28: unknown codings are left alone, identity and nothing mean none",
        arguments: ["compress", "x-nonsense", "identity", "", " ", ","])
    func untouched(name: String) async throws {
        let bytes = try coded()
        let seen = try await load(bytes, as: name)
        #expect(seen.body == Data(bytes) && seen.error == nil)
    }

    @Test("B16.53: several codings are removed from last to first")
    func several() async throws {
        let twice = try #require(Gzip.compress(coded(.zlib)))
        let seen = try await load(twice, as: "deflate, gzip")
        #expect(seen.body == Data(plain))
        let unknownFirst = try await load(coded(), as: "x-nonsense, gzip")
        #expect(unknownFirst.error == nil)
    }

    @Test("B16.55, B16.56, B17.27: truncated, corrupt or wrongly summed bodies are −1015")
    func faults() async throws {
        for format in Gzip.Format.allCases {
            let bytes = try coded(format)
            let name = format == .gzip ? "gzip" : "deflate"
            let cut = try await load(Array(bytes.dropLast(format == .raw ? 3 : 1)), as: name)
            #expect(cut.code == .cannotDecodeRawData, "\(format)")
            var corrupt = bytes
            corrupt[bytes.count / 2] ^= 0x55
            corrupt[bytes.count / 2 + 1] ^= 0xAA
            let broken = try await load(corrupt, as: name)
            // Raw deflate has no sum: what can still be decoded is taken for the body.
            #expect(broken.code == .cannotDecodeRawData || format == .raw, "\(format)")
        }
        for place in [1, 5] {
            var bytes = try coded()
            bytes[bytes.count - place] ^= 1
            let seen = try await load(bytes, as: "gzip")
            #expect(seen.code == .cannotDecodeRawData)
            #expect(seen.underlying?.domain == URLLoadingErrorDomain.http)
            #expect(seen.message.contains("compress") || seen.message.contains("corrupt"), "\(seen.message)")
        }
    }

    @Test("B16.55: what was decoded before the fault has been delivered")
    func faultAfterData() async throws {
        let long = Array(repeating: plain, count: 2000).flatMap { $0 }
        let first = try #require(Gzip.compress(long))
        try await withServer(
            router: { _ in
                .bytes(first + [0x1F, 0x8B, 8, 0, 1, 2, 3, 4, 0, 3, 7, 7, 7]).adding("Content-Encoding", "gzip")
            }
        ) { server in
            let notebook = Notebook()
            let session = URLSession(configuration: .ephemeral, delegate: notebook, delegateQueue: nil)
            try session.dataTask(with: server.at()).resume()
            await notebook.ended.wait()
            #expect((notebook.error as? URLError)?.code == .cannotDecodeRawData)
            #expect(notebook.byteCount == long.count)
            session.invalidateAndCancel()
        }
    }

    @Test("B16.57: garbage behind a complete stream is ignored")
    func garbageBehind() async throws {
        let seen = try await load(coded() + Array("garbage".utf8), as: "gzip")
        #expect(seen.body == Data(plain) && seen.error == nil)
        let zeros = try await load(coded(.zlib) + [UInt8](repeating: 0, count: 100), as: "deflate")
        #expect(zeros.body == Data(plain) && zeros.error == nil)
    }

    @Test("B16.58: no body at all is an empty body, whatever its coding: length 0, HEAD, 204, 304, chunked")
    func empty() async throws {
        for coding in ["gzip", "deflate", "gzip, deflate"] {
            let none = try await load([], as: coding)
            #expect(none.error == nil && none.body.isEmpty)
            let head = try await load(coded(), as: coding, method: "HEAD")
            #expect(head.error == nil && head.body.isEmpty && head.status == 200)
            #expect(head.fields["Content-Encoding"] == coding)
            for status in [204, 304] {
                let seen = try await load([], as: coding, status: status)
                #expect(seen.error == nil && seen.status == status)
            }
            let text = "\(ok)Content-Encoding: \(coding)\nTransfer-Encoding: chunked\n\n0\n\n"
            #expect(try await see(text) == .answer())
            #expect(try await see("\(ok)Content-Encoding: \(coding)\n\n", then: [.close]) == .answer(reused: false))
        }
    }

    @Test("B16.59: decoded bytes are delivered as they become available")
    func streaming() async throws {
        // Two members: the first must arrive although the second is not sent before it has.
        let gate = ServerGate()
        let bytes = try coded()
        let total = String(bytes.count * 2)
        try await withServer(
            router: { _ in
                .script([
                    .lines("\(ok)Content-Encoding: gzip\nContent-Length: \(total)\n\n"), .send(bytes), .wait(gate),
                    .send(bytes),
                ])
            }
        ) { server in
            let size = plain.count
            let notebook = Notebook(act: { call, _, _ in if call == .data { gate.open() } })
            let session = URLSession(configuration: .ephemeral, delegate: notebook, delegateQueue: nil)
            try session.dataTask(with: server.at()).resume()
            await notebook.ended.wait()
            #expect(notebook.error == nil && notebook.byteCount == 2 * size)
            session.invalidateAndCancel()
        }
    }

    @Test("B16.60: a body that grows a thousandfold arrives whole, and piece by piece")
    func bomb() async throws {
        let megabytes = 64
        let bytes = try #require(Gzip.compress([UInt8](repeating: 0, count: megabytes << 20), level: 9))
        #expect(bytes.count < megabytes << 11)
        try await withServer(router: { _ in .bytes(bytes).adding("Content-Encoding", "gzip") }) { server in
            let notebook = Notebook()
            let session = URLSession(configuration: .ephemeral, delegate: notebook, delegateQueue: nil)
            try session.dataTask(with: server.at()).resume()
            await notebook.ended.wait()
            #expect(notebook.error == nil && notebook.byteCount == megabytes << 20)
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B16.60: a body that comes to more than maximumDecodedBytes ends the load",
        arguments: [65_537, 65_536, 0, -1] as [Int64])
    func limit(limit: Int64) async throws {
        let code: URLError.Code? = limit < 65_537 ? .dataLengthExceedsMaximum : nil
        let bytes = try #require(Gzip.compress([UInt8](repeating: 0, count: 65_537), level: 9))
        try await withServer(router: { request in
            request.target == "/plain"
                ? .bytes([UInt8](repeating: 0, count: 70_000))
                : .bytes(bytes).adding("Content-Encoding", "gzip")
        }) { server in
            let session = URLSession.made { $0.maximumDecodedBytes = limit }
            let load = try await Load(server.at("/coded"), in: session)
            #expect(load.code == code && (code != nil || load.body.count == 65_537), "\(load.message)")
            let plain = try await Load(server.at("/plain"), in: session)
            #expect(plain.body.count == 70_000, "what is not compressed is not counted")
            let notebook = Notebook()
            let configuration = URLSessionConfiguration.ephemeral
            configuration.maximumDecodedBytes = limit
            let told = URLSession(configuration: configuration, delegate: notebook, delegateQueue: nil)
            try told.dataTask(with: server.at("/coded")).resume()
            await notebook.ended.wait()
            #expect(notebook.byteCount <= max(0, limit) && (notebook.error as? URLError)?.code == code)
            session.invalidateAndCancel()
            told.invalidateAndCancel()
        }
    }

    @Test("B16.61: a part of a coded body is delivered undecoded; one that is the whole is decoded")
    func parts() async throws {
        let bytes = try coded()
        for range in [4..<bytes.count, 0..<4] {
            let part = try await load(
                Array(bytes[range]), as: "gzip", status: 206,
                fields: [("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(bytes.count)")])
            #expect(part.body == Data(bytes[range]) && part.error == nil, "\(range)")
        }
        let whole = try await load(
            bytes, as: "gzip", status: 206, fields: [("Content-Range", "bytes 0-\(bytes.count - 1)/\(bytes.count)")])
        #expect(whole.body == Data(plain) && whole.error == nil)
    }

    @Test("B5.18: a request for a part asks for no coding, unless it names one itself", arguments: [nil, "gzip"])
    func partAsked(own: String?) async throws {
        try await withServer(router: { .text($0.fields.first(.acceptEncoding) ?? "none") }) { server in
            var request = URLRequest(url: try server.at())
            request.setValue("bytes=0-99", forHTTPHeaderField: "Range")
            request.setValue(own, forHTTPHeaderField: "Accept-Encoding")
            #expect(await Load(request).text == own ?? "identity")
        }
    }

    @Test("B16.62: a gzip file that is also sent with the coding gzip is decoded")
    func gzipFile() async throws {
        try await withServer(
            router: { _ in
                ServerResponse(body: .bytes((try? coded()) ?? [])).adding("Content-Type", "application/gzip")
                    .adding("Content-Encoding", "gzip")
            }
        ) { server in
            let file = try await Load(server.at("/archive.gz"))
            #expect(file.body == Data(plain))
        }
    }
}
