// The vectors in Tests/Vectors/hpack: header lists of real sites, and what eight encoders made of them. The files are
// described in the README there.

import Testing
import URLLoadingTestSupport
import URLLoadingWire

/// Header lists and blocks of them.
struct HPACKVectors: Sendable {
    /// One block of an encoder.
    struct Wire: Sendable {
        var story: Int
        var number: Int
        /// What our table size has become just before.
        var tableSize: Int?
        var block: [UInt8]
    }

    /// Story and number of a list.
    struct Place: Hashable, Sendable {
        var story: Int
        var number: Int
    }

    static let encoders = [
        "haskell-http2-linear", "haskell-http2-naive", "haskell-http2-static-huffman", "nghttp2",
        "nghttp2-16384-4096", "nghttp2-change-table-size", "node-http2-hpack", "swift-nio-hpack-plain-text",
    ]

    static let shared = HPACKVectors()

    /// All lists, in the order of their file.
    private(set) var places: [Place] = []
    private(set) var lists: [Place: [TextField]] = [:]

    private init() {
        let fields = Self.lines("fields.tsv").map { line in
            let tab = line.firstIndex(of: "\t") ?? line.endIndex
            return TextField(String(line[..<tab]), String(line[tab...].dropFirst()))
        }
        for line in Self.lines("lists.txt") {
            let numbers = line.split(separator: " ").compactMap { Int($0) }
            let place = Place(story: numbers[0], number: numbers[1])
            places.append(place)
            lists[place] = numbers.dropFirst(2).map { fields[$0] }
        }
    }

    /// The blocks of an encoder, in the order of their file.
    static func wires(_ encoder: String) -> [Wire] {
        lines("wires-\(encoder).txt").map { line in
            let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
            return Wire(
                story: Int(words[0]) ?? -1, number: Int(words[1]) ?? -1, tableSize: Int(words[2]),
                block: Base64.decode(words[3]) ?? [])
        }
    }

    private static func lines(_ file: String) -> [String] {
        guard let lines = VectorText.lines(of: "hpack/" + file) else {
            Issue.record("cannot read hpack/\(file)")
            return []
        }
        return lines.last == "" ? lines.dropLast() : lines
    }
}
