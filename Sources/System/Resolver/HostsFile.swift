// Which names the machine's own table of hosts has (hosts(5)). It is no resolver: what a name stands for is the
// system's name service's to say, which knows in what order its sources count. Read on a helper thread, at each
// question: names are looked for here only while others hold up the threads.

/// A table of hosts on the disk.
package struct HostsFile: Sendable {
    private let path: String

    /// The table at a path, which need not exist.
    package init(path: String = "/etc/hosts") {
        self.path = path
    }

    /// Whether a line of it has this name, in whatever case, as long as the table is not very long.
    package func has(_ name: String) -> Bool {
        guard let opened = try? OpenFile.open(path: path).get(), let count = Int(exactly: opened.byteCount),
            (1...Self.longest).contains(count)
        else { return false }
        return withUnsafeTemporaryAllocation(byteCount: count, alignment: 16) { buffer in
            var filled = 0
            while filled < count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
                guard case .success(let read) = opened.read(at: Int64(filled), into: rest) else { break }
                filled += read
            }
            return Self.names(name, in: UnsafeRawBufferPointer(rebasing: buffer[..<filled]))
        }
    }

    /// Whether a table has a name: an address, blanks, names with blanks between them, and a remark behind a `#`.
    package static func names(_ name: String, in table: UnsafeRawBufferPointer) -> Bool {
        let wanted = Array(name.utf8.map(lowered))
        guard !wanted.isEmpty else { return false }
        return table.split(separator: UInt8(ascii: "\n")).contains { line in
            line.prefix { $0 != UInt8(ascii: "#") }.split(whereSeparator: isBlank).dropFirst().contains { word in
                word.count == wanted.count && word.lazy.map(lowered).elementsEqual(wanted)
            }
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    private static func lowered(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    /// Picked by feel: tens of thousands of lines. A longer one would take longer to read than it helps.
    private static let longest = 1 << 20
}
