// Behaviour 16.4, seen by a program, of the codings that the system's libraries undo: br and zstd.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport
import URLLoadingWire

@Suite(
    "Content codings of the system's libraries",
    .enabled(
        if: CodingLibraries.system.brotli != nil && CodingLibraries.system.zstandard != nil,
        "libbrotlidec.so.1 or libzstd.so.1 is not installed"))
struct LibraryCodingTests {
    /// A coding that a library undoes.
    enum Coding: String, CaseIterable, Sendable {
        case brotli = "br"
        case zstandard = "zstd"

        func coded(_ bytes: [UInt8]) -> [UInt8] {
            switch self {
            case .brotli: StoredCodings.brotli(bytes)
            case .zstandard: StoredCodings.zstandard(bytes)
            }
        }

        func answer(_ bytes: [UInt8]) -> ServerResponse { .bytes(bytes).adding("Content-Encoding", rawValue) }
    }

    @Test("B16.51: br and zstd are offered and undone, over HTTP/1.1 and HTTP/2", arguments: Coding.allCases)
    func undone(coding: Coding) async throws {
        for count in [0, 1, 65_536, 65_537, 1_000_000] {
            let bytes = GeneratedBytes.bytes(count)
            try await withServer(
                router: { $0.accepts(coding: coding.rawValue) ? coding.answer(coding.coded(bytes)) : .status(406) }
            ) { server in
                let load = try await Load(server.at())
                #expect(load.status == 200 && load.fields["Content-Encoding"] == coding.rawValue)
                #expect(firstDifference(load.body, Data(bytes)) == nil, "\(count)")
            }
        }
    }

    @Test(
        "B5.19: the program's own Accept-Encoding is sent, and a body that comes coded is decoded",
        arguments: Coding.allCases)
    func ownField(coding: Coding) async throws {
        for own in ["identity", coding.rawValue, "gzip;q=0.5"] {
            try await withServer(router: { request in
                coding.answer(coding.coded(Array((request.fields.first(.acceptEncoding) ?? "none").utf8)))
            }) { server in
                var request = URLRequest(url: try server.at())
                request.setValue(own, forHTTPHeaderField: "Accept-Encoding")
                let load = await Load(request)
                #expect(load.text == own, "\(load.message)")
            }
        }
    }

    @Test(
        "B16.55, B17.27: truncated and corrupt bodies are −1015, with what was decoded before",
        arguments: Coding.allCases)
    func faults(coding: Coding) async throws {
        let whole = coding.coded(GeneratedBytes.bytes(200_000))
        // An end that is missing, the beginning of a block that is missing, and one of a reserved kind.
        let faulty = [
            Array(whole.dropLast()), Array(whole.prefix(100_000)), whole.dropLast() + [0xFF, 0xFF, 0xFF, 0xFF],
            Array("no coded body at all".utf8),
        ]
        for (index, bytes) in faulty.enumerated() {
            try await withServer(router: { _ in coding.answer(bytes) }) { server in
                let load = try await Load(server.at())
                #expect(load.code == .cannotDecodeRawData, "\(index): \(load.message)")
                #expect(load.underlying?.domain == URLLoadingErrorDomain.http)
                let notebook = Notebook()
                let session = URLSession(configuration: .ephemeral, delegate: notebook, delegateQueue: nil)
                try session.dataTask(with: server.at()).resume()
                await notebook.ended.wait()
                #expect((notebook.error as? URLError)?.code == .cannotDecodeRawData)
                #expect(notebook.byteCount >= [200_000, 99_000, 65_536, 0][index], "\(index)")
                session.invalidateAndCancel()
            }
        }
    }

    @Test(
        "B9.12, B17.47: for a download they are −3006, or −3007 where only the end shows it", arguments: Coding.allCases
    )
    func faultyDownload(coding: Coding) async throws {
        let whole = coding.coded(GeneratedBytes.bytes(200_000))
        let faulty: [([UInt8], URLError.Code)] = [
            (Array(whole.prefix(100_000)), .downloadDecodingFailedToComplete),
            (whole.dropLast() + [0xFF, 0xFF, 0xFF, 0xFF], .downloadDecodingFailedMidStream),
        ]
        for (bytes, code) in faulty {
            try await withServer(router: { _ in coding.answer(bytes) }) { server in
                let url = try server.at()
                let session = URLSession(configuration: .ephemeral)
                #expect(await codeThrown { _ = try await session.download(from: url) } == code)
                session.invalidateAndCancel()
            }
        }
    }

    @Test("B16.59: decoded bytes are delivered as they become available", arguments: Coding.allCases)
    func streaming(coding: Coding) async throws {
        // The last bytes are not sent before the first have arrived.
        let gate = ServerGate()
        let bytes = coding.coded(GeneratedBytes.bytes(1000))
        try await withServer(router: { _ in
            .script([
                .lines("\(ok)Content-Encoding: \(coding.rawValue)\nContent-Length: \(bytes.count)\n\n"),
                .send(Array(bytes.prefix(500))), .wait(gate), .send(Array(bytes.dropFirst(500))),
            ])
        }) { server in
            let notebook = Notebook(act: { call, _, _ in if call == .data { gate.open() } })
            let session = URLSession(configuration: .ephemeral, delegate: notebook, delegateQueue: nil)
            try session.dataTask(with: server.at()).resume()
            await notebook.ended.wait()
            #expect(notebook.error == nil && notebook.byteCount == 1000)
            session.invalidateAndCancel()
        }
    }

    @Test("B16.60: two kilobytes of zstd that are 64 megabytes arrive piece by piece, and maximumDecodedBytes holds")
    func bomb() async throws {
        let bytes = StoredCodings.zstandard(blocksOfZeros: 512)
        try await withServer(router: { _ in Coding.zstandard.answer(bytes) }) { server in
            for (limit, code) in [(nil, nil), (1 << 20, .dataLengthExceedsMaximum)] as [(Int64?, URLError.Code?)] {
                let notebook = Notebook()
                let configuration = URLSessionConfiguration.ephemeral
                configuration.maximumDecodedBytes = limit
                let session = URLSession(configuration: configuration, delegate: notebook, delegateQueue: nil)
                try session.dataTask(with: server.at()).resume()
                await notebook.ended.wait()
                #expect((notebook.error as? URLError)?.code == code)
                #expect(limit == nil ? notebook.byteCount == 64 << 20 : notebook.byteCount <= 1 << 20)
                session.invalidateAndCancel()
            }
        }
    }

    @Test("B16.73: a window above 8 MiB and a dictionary are refused, and the text says so")
    func refused() async throws {
        let hello = Array("hello".utf8)
        var (window, dictionary) = (Coding.zstandard.coded(hello), Coding.zstandard.coded(hello))
        window[5] = 14 << 3
        dictionary.replaceSubrange(4...5, with: [0x01, 7 << 3, 9])
        for (bytes, word) in [(window, "8 MiB"), (dictionary, "dictionary")] {
            try await withServer(router: { _ in Coding.zstandard.answer(bytes) }) { server in
                let load = try await Load(server.at())
                #expect(load.code == .cannotDecodeRawData && load.message.contains(word), "\(load.message)")
            }
        }
    }
}
