// How field names are shown to applications: well-known ones in canonical capitals, others as the server wrote
// them (B5.45).

import URLLoadingWire

/// Makes the dictionary behind `HTTPURLResponse.allHeaderFields`.
enum HeaderNames {
    /// One entry per field; repeated fields are joined with ", " in the order in which they arrived (B5.44).
    static func dictionary(_ fields: Fields) -> [String: String] {
        var result: [String: String] = [:]
        result.reserveCapacity(fields.count)
        var unknownSpellings: [String: String] = [:]
        for index in 0..<fields.count {
            add(fields.value(at: index), for: fields.name(at: index), to: &result, spellings: &unknownSpellings)
        }
        return result
    }

    /// An entry per field of a dictionary that a program has made. Names that differ in capitals alone become one
    /// entry; their values are joined with ", " in the order of the names.
    static func merged(_ fields: [String: String]) -> [String: String] {
        var result: [String: String] = [:]
        result.reserveCapacity(fields.count)
        var unknownSpellings: [String: String] = [:]
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
            add(value, for: name, to: &result, spellings: &unknownSpellings)
        }
        return result
    }

    private static func add(
        _ value: String, for name: String, to result: inout [String: String], spellings: inout [String: String]
    ) {
        join(value, to: &result[canonical(name, spellings: &spellings)])
    }

    /// In place, or of a thousand fields of one name each would copy all before it.
    private static func join(_ value: String, to joined: inout String?) {
        guard joined != nil else { return joined = value }
        joined?.append(", ")
        joined?.append(value)
    }

    private static func canonical(_ name: String, spellings: inout [String: String]) -> String {
        let (wanted, length) = (FieldName(name), name.utf8.count)
        if length < byLength.count, let known = byLength[length].first(where: { $0 == wanted }) {
            return known.spelling
        }
        let lower = name.lowercased()
        // Letters that are not ASCII can stand for such as are.
        if !name.utf8.allSatisfy({ $0 < 0x80 }) {
            if wellKnown.contains(name) { return name }
            let capitalised = capitalised(lower)
            if wellKnown.contains(capitalised) { return capitalised }
        }
        if let first = spellings[lower] { return first }
        spellings[lower] = name
        return name
    }

    /// Capitals at the beginning and after each hyphen.
    private static func capitalised(_ lower: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(lower.utf8.count)
        var atStart = true
        for byte in lower.utf8 {
            bytes.append(atStart && byte >= 0x61 && byte <= 0x7A ? byte & ~0x20 : byte)
            atStart = byte == 0x2D
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The well-known names by their lengths. Nearly every name is one of them, and few have the same length.
    private static let byLength: [[FieldName]] = {
        let longest = wellKnown.map(\.utf8.count).max() ?? 0
        var names: [[FieldName]] = Array(repeating: [], count: longest + 1)
        for name in wellKnown { names[name.utf8.count].append(FieldName(name)) }
        return names
    }()

    private static let wellKnown: Set<String> = [
        "Accept", "Accept-Charset", "Accept-Encoding", "Accept-Language", "Accept-Patch", "Accept-Post",
        "Accept-Ranges", "Access-Control-Allow-Credentials", "Access-Control-Allow-Headers",
        "Access-Control-Allow-Methods", "Access-Control-Allow-Origin", "Access-Control-Expose-Headers",
        "Access-Control-Max-Age", "Age", "Allow", "Alt-Svc", "Authentication-Info", "Authorization",
        "Cache-Control", "Clear-Site-Data", "Connection", "Content-Disposition", "Content-Encoding",
        "Content-Language", "Content-Length", "Content-Location", "Content-Md5", "Content-Range",
        "Content-Security-Policy", "Content-Type", "Cookie", "Date", "Etag", "Expect", "Expires", "From", "Host",
        "If-Match", "If-Modified-Since", "If-None-Match", "If-Range", "If-Unmodified-Since", "Keep-Alive",
        "Last-Modified", "Link", "Location", "Max-Forwards", "Origin", "Permissions-Policy", "Pragma",
        "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization", "Proxy-Connection", "Range",
        "Referer", "Referrer-Policy", "Refresh", "Retry-After", "Server", "Server-Timing", "Set-Cookie",
        "Sec-Websocket-Accept", "Sec-Websocket-Extensions", "Sec-Websocket-Protocol",
        "Strict-Transport-Security", "Te", "Timing-Allow-Origin", "Trailer", "Transfer-Encoding", "Upgrade",
        "User-Agent", "Vary", "Via", "Warning", "Www-Authenticate", "X-Content-Type-Options", "X-Frame-Options",
        "X-Powered-By",
    ]
}
