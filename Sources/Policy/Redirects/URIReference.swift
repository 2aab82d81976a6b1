// The five parts of a URI reference and how one is resolved against a base: RFC 3986 §3, §5.2, §5.3. It works on
// text as it stands; it decodes nothing and normalises nothing but dot segments.

/// A URI or relative reference in its parts; a part that is not there differs from an empty one.
package struct URIReference: Sendable, Equatable {
    /// Before the first `:`.
    package var scheme: String?
    /// After `//`: user information, host and port.
    package var authority: String?
    /// Always there, maybe empty.
    package var path = ""
    /// After `?`.
    package var query: String?
    /// After `#`.
    package var fragment: String?

    /// Splits a text (RFC 3986 appendix B); every text is some reference.
    package init(_ text: String) {
        var rest = text.utf8[...]
        if let colon = rest.firstIndex(where: { ":/?#".utf8.contains($0) }), rest[colon] == UInt8(ascii: ":"),
            Self.isScheme(rest[..<colon])
        {
            scheme = String(rest[..<colon])
            rest = rest[rest.index(after: colon)...]
        }
        if rest.starts(with: "//".utf8) {
            rest = rest.dropFirst(2)
            let end = rest.firstIndex { "/?#".utf8.contains($0) } ?? rest.endIndex
            authority = String(rest[..<end])
            rest = rest[end...]
        }
        if let hash = rest.firstIndex(of: UInt8(ascii: "#")) {
            fragment = String(rest[rest.index(after: hash)...])
            rest = rest[..<hash]
        }
        if let mark = rest.firstIndex(of: UInt8(ascii: "?")) {
            query = String(rest[rest.index(after: mark)...])
            rest = rest[..<mark]
        }
        path = String(rest) ?? ""
    }

    /// This reference as seen from a base (RFC 3986 §5.2.2).
    package func resolved(against base: URIReference) -> URIReference {
        var target = self
        if scheme == nil {
            target.scheme = base.scheme
            if authority == nil {
                target.authority = base.authority
                if path.isEmpty {
                    target.path = base.path
                    target.query = query ?? base.query
                } else if path.utf8.first != UInt8(ascii: "/") {
                    target.path = base.merged(with: path)
                }
            }
        }
        if !(scheme == nil && authority == nil && path.isEmpty) {
            target.path = Self.withoutDotSegments(target.path)
        }
        return target
    }

    /// The parts put together again (RFC 3986 §5.3).
    package var text: String {
        var text = scheme.map { $0 + ":" } ?? ""
        if let authority { text += "//" + authority }
        text += path
        if let query { text += "?" + query }
        if let fragment { text += "#" + fragment }
        return text
    }

    /// RFC 3986 §5.2.3: the reference's path takes the place of the base's last segment.
    private func merged(with relative: String) -> String {
        if authority != nil, path.isEmpty { return "/" + relative }
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return relative }
        return String(path[...slash]) + relative
    }

    /// RFC 3986 §5.2.4, on segments instead of an input buffer: `.` adds nothing, `..` takes one away.
    private static func withoutDotSegments(_ path: String) -> String {
        guard path.utf8.contains(UInt8(ascii: ".")) else { return path }
        let isAbsolute = path.utf8.first == UInt8(ascii: "/")
        let segments = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        var kept: [Substring.UTF8View] = []
        for (position, segment) in segments.dropFirst(isAbsolute ? 1 : 0).enumerated() {
            let isLast = position == segments.count - (isAbsolute ? 2 : 1)
            let isUp = segment.elementsEqual("..".utf8)
            if isUp { _ = kept.popLast() }
            guard isUp || segment.elementsEqual(".".utf8) else {
                kept.append(segment)
                continue
            }
            // A dot segment at the end leaves a directory: the path ends in a slash.
            if isLast { kept.append(""[...].utf8) }
        }
        return (isAbsolute ? "/" : "") + kept.map { String(Substring($0)) }.joined(separator: "/")
    }

    private static func isScheme(_ text: Substring.UTF8View) -> Bool {
        guard let first = text.first, ASCII.isLetter(first) else { return false }
        return text.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) || "+-.".utf8.contains($0) }
    }
}
