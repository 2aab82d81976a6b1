// Files that are compressed with gzip: how they are recognised, what they are called without it,
// and how they are decoded.

import Foundation
import URLLoading
import URLLoadingWire

/// Undoes gzip in a file that arrives.
final class SourceDecoder: @unchecked Sendable {
    // Safe to share: it decodes on the queue that writes the file, which is serial, and nowhere else.
    /// Under this name a delegate is asked about every such file.
    static let type = "application/gzip"

    private var decoder: ContentDecoder

    /// A decoder at the beginning of a file.
    init?() {
        guard let decoder = ContentDecoder([.gzip]) else { return nil }
        self.decoder = decoder
    }

    /// Whether a response is such a file. One with a content coding is not: that is undone already.
    static func recognises(_ response: URLResponse) -> Bool {
        if let http = response as? HTTPURLResponse, isCoded(http) { return false }
        if let type = response.mimeType, types.contains(type.lowercased()) { return true }
        let name = response.suggestedFilename?.lowercased() ?? ""
        return name.hasSuffix(".gz") || name.hasSuffix(".tgz")
    }

    /// Whether there is a content coding; identity, which is what downloads ask for, is none (B16.52).
    private static func isCoded(_ response: HTTPURLResponse) -> Bool {
        let codings = response.value(forHTTPHeaderField: "Content-Encoding") ?? ""
        return codings.split(separator: ",").contains { coding in
            !["", "identity"].contains(coding.trimmingCharacters(in: .whitespaces).lowercased())
        }
    }

    /// The name without gzip's ending.
    static func decodedName(_ name: String) -> String {
        let lower = name.lowercased()
        if lower.hasSuffix(".tgz"), name.count > 4 { return name.dropLast(4) + ".tar" }
        // What is left of "..gz" and "...gz" is no name (B5.68).
        guard lower.hasSuffix(".gz"), case let rest = name.dropLast(3), !["", ".", ".."].contains(rest) else {
            return name
        }
        return String(rest)
    }

    /// Decodes a piece; what comes out goes to `sink` in pieces of bounded size.
    func decode(_ piece: Data, to sink: (Data) throws -> Void) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.room, alignment: 1)
        defer { buffer.deallocate() }
        try piece.withUnsafeBytes { bytes in
            var offset = 0
            repeat {
                let produced = try decoder.decode(bytes.bytes, offset: &offset, into: buffer)
                if produced > 0 { try sink(Data(buffer[..<produced])) }
            } while offset < bytes.count || decoder.hasMore
        }
    }

    /// The file has ended: fails where it must not end.
    func finish() throws {
        try decoder.finish()
    }

    private static let types: Set<String> = ["application/gzip", "application/x-gzip"]
    private static let room = 1 << 16
}
