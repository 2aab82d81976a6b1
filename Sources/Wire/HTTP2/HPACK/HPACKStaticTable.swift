// The table that both ends know before the first byte: 61 fields, or names of fields, that are
// common. RFC 7541 appendix A.

/// The static table.
struct HPACKStaticTable: Sendable {
    /// The entries; the first has index 1.
    let entries: [HPACKEntry]
    /// Their names and values.
    let bytes: [UInt8]

    /// Made once; code that asks for it often keeps it.
    static let shared = HPACKStaticTable()

    private init() {
        var entries: [HPACKEntry] = []
        var bytes: [UInt8] = []
        for (name, value) in HPACKStaticTable.fields {
            entries.append(
                HPACKEntry(start: bytes.count, nameLength: name.utf8.count, valueLength: value.utf8.count))
            bytes += name.utf8
            bytes += value.utf8
        }
        self.entries = entries
        self.bytes = bytes
    }

    /// The highest index.
    static var count: Int { 61 }

    private static let fields: [(name: String, value: String)] = [
        (":authority", ""), (":method", "GET"), (":method", "POST"), (":path", "/"), (":path", "/index.html"),
        (":scheme", "http"), (":scheme", "https"), (":status", "200"), (":status", "204"), (":status", "206"),
        (":status", "304"), (":status", "400"), (":status", "404"), (":status", "500"), ("accept-charset", ""),
        ("accept-encoding", "gzip, deflate"), ("accept-language", ""), ("accept-ranges", ""), ("accept", ""),
        ("access-control-allow-origin", ""), ("age", ""), ("allow", ""), ("authorization", ""),
        ("cache-control", ""), ("content-disposition", ""), ("content-encoding", ""), ("content-language", ""),
        ("content-length", ""), ("content-location", ""), ("content-range", ""), ("content-type", ""),
        ("cookie", ""), ("date", ""), ("etag", ""), ("expect", ""), ("expires", ""), ("from", ""), ("host", ""),
        ("if-match", ""), ("if-modified-since", ""), ("if-none-match", ""), ("if-range", ""),
        ("if-unmodified-since", ""), ("last-modified", ""), ("link", ""), ("location", ""), ("max-forwards", ""),
        ("proxy-authenticate", ""), ("proxy-authorization", ""), ("range", ""), ("referer", ""), ("refresh", ""),
        ("retry-after", ""), ("server", ""), ("set-cookie", ""), ("strict-transport-security", ""),
        ("transfer-encoding", ""), ("user-agent", ""), ("vary", ""), ("via", ""), ("www-authenticate", ""),
    ]
}
