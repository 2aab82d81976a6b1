// A file and a stream far larger than memory should be are uploaded; both have holes or bytes made up on the way, so
// that they need no disk.

import Foundation
import Synchronization
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

/// Uploads large bodies and reports what they cost.
enum UploadingLoad {
    /// What was seen.
    struct Report: CustomStringConvertible {
        let fromFile: Int64
        let fromStream: Int64
        let peakResidentKiB: Int

        var description: String { "file=\(fromFile) stream=\(fromStream) peakKiB=\(peakResidentKiB)" }
    }

    static func run(bytes: Int64) async throws -> Report {
        var options = LoopbackServer.Options()
        options.keptBodyBytes = 0
        let server = try LoopbackServer.start(options) { .text("\($0.bodyByteCount)") }
        guard let url = URL(string: server.url("/")) else { throw URLError(.badURL) }
        var request = URLRequest(url: url)
        request.httpMethod = "PUT"
        let session = URLSession(configuration: .ephemeral)

        let file = FileManager.default.temporaryDirectory.appendingPathComponent("soak-\(UUID().uuidString)")
        guard FileManager.default.createFile(atPath: file.path, contents: nil), truncate(file.path, Int(bytes)) == 0
        else { throw CocoaError(.fileWriteUnknown) }
        defer { try? FileManager.default.removeItem(at: file) }
        let (ofFile, _) = try await session.upload(for: request, fromFile: file)

        request.httpBodyStream = ZeroStream(count: bytes)
        let (ofStream, _) = try await session.data(for: request)
        session.invalidateAndCancel()
        await server.stop()
        return Report(
            fromFile: number(ofFile), fromStream: number(ofStream), peakResidentKiB: PeakMemory.residentKiB)
    }

    private static func number(_ body: Data) -> Int64 { Int64(String(decoding: body, as: UTF8.self)) ?? -1 }
}

/// So many bytes, made when they are read.
private final class ZeroStream: InputStream {
    private var left: Int64

    init(count: Int64) {
        left = count
        super.init(data: Data())
    }

    override func open() {}
    override func close() {}
    override var hasBytesAvailable: Bool { left > 0 }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
        let count = Int(min(left, Int64(length)))
        buffer.update(repeating: 0, count: count)
        left -= Int64(count)
        return count
    }

    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length: UnsafeMutablePointer<Int>
    ) -> Bool { false }
}
