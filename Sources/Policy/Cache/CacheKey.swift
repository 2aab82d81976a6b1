// What stored answers are found by: the URL without its fragment, its scheme and host in lower case, without user
// information and without the scheme's own port. Behaviour B7.16; RFC 9111 §4, RFC 3986 §6.2. The method is not part of
// it: what is stored answers GET. It must not know which schemes are cached.

import URLLoadingWire

/// The name under which the answer for a URL is kept.
package struct CacheKey: Sendable, Hashable {
    /// The URL in its normal form.
    package let text: String

    /// Makes the key of a URL; nil for what has no scheme, and for URLs too long to be worth keeping.
    package init?(_ url: String) {
        var url = url
        guard let text = url.withUTF8({ Self.normalised(UnsafeRawBufferPointer($0)) }) else { return nil }
        self.text = text
    }

    /// Whether both lie on the same scheme, host and port.
    package func hasSameOrigin(as other: CacheKey) -> Bool { originText.elementsEqual(other.originText) }

    private var originText: Substring.UTF8View {
        let bytes = text.utf8
        var slashes = 0
        let end = bytes.firstIndex { byte in
            if byte == UInt8(ascii: "/") { slashes += 1 }
            return slashes == 3
        }
        return bytes[..<(end ?? bytes.endIndex)]
    }

    private static func normalised(_ url: UnsafeRawBufferPointer) -> String? {
        guard url.count <= maximumLength, let colon = url.firstIndex(of: UInt8(ascii: ":")), colon > 0,
            url[..<colon].allSatisfy({ ASCII.isLetter($0) || ASCII.isDigit($0) || "+-.".utf8.contains($0) })
        else { return nil }
        let end = url.firstIndex(of: UInt8(ascii: "#")) ?? url.count
        guard colon < end else { return nil }
        var key: [UInt8] = []
        key.reserveCapacity(end + 1)
        key.append(contentsOf: url[..<colon].lazy.map(ASCII.lowercase))
        let defaultPort = defaultPort(scheme: key)
        key.append(UInt8(ascii: ":"))
        var rest = url[(colon + 1)..<end]
        if rest.starts(with: "//".utf8) {
            rest = rest.dropFirst(2)
            key.append(contentsOf: "//".utf8)
            let pathStart = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? end
            key.append(contentsOf: place(rest[..<pathStart], defaultPort: defaultPort).lazy.map(ASCII.lowercase))
            rest = rest[pathStart...]
            // RFC 9110 §4.2.3: no path and "/" are the same.
            if rest.first != UInt8(ascii: "/") { key.append(UInt8(ascii: "/")) }
        }
        key.append(contentsOf: rest)
        return String(decoding: key, as: UTF8.self)
    }

    /// Host and port of an authority.
    private static func place(
        _ authority: Slice<UnsafeRawBufferPointer>, defaultPort: String
    ) -> Slice<UnsafeRawBufferPointer> {
        var place = authority
        if let at = place.lastIndex(of: UInt8(ascii: "@")) { place = place[(at + 1)...] }
        guard let colon = place.lastIndex(of: UInt8(ascii: ":")),
            place[colon...].allSatisfy({ $0 != UInt8(ascii: "]") })
        else { return place }
        let port = place[(colon + 1)...]
        return port.isEmpty || port.elementsEqual(defaultPort.utf8) ? place[..<colon] : place
    }

    private static func defaultPort(scheme: [UInt8]) -> String {
        if scheme.elementsEqual("http".utf8) { return "80" }
        return scheme.elementsEqual("https".utf8) ? "443" : ""
    }

    /// Longer ones are no addresses but messages.
    private static let maximumLength = 1 << 16
}
