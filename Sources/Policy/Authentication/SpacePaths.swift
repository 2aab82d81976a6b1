// Which requests to a server lie in a space that is known already: by the directory for Basic, by `domain` for Digest.
// RFC 7617 §2.2, RFC 7616 §3.3; behaviour B2.77, B2.91. Proxies have no paths: all of them is one space.

/// The part of a server that one space covers, as far as it is known.
struct SpacePaths: Sendable, Equatable {
    /// More are not remembered; requests elsewhere are asked for their credential once more. Of the directories of
    /// Basic those stay that were used last.
    static let maximumCount = 64

    /// Paths, each standing for itself and what lies below it. Of the directories of Basic those that were
    /// used long ago stand first.
    private(set) var prefixes: [String]

    /// All of a server or proxy.
    static let everything = SpacePaths(prefixes: ["/"])

    /// What a success tells of Basic: the directory of the path (B2.77).
    static func directory(of target: String) -> SpacePaths {
        guard let path = path(of: target), !climbs(path), let end = path.utf8.lastIndex(of: slash) else {
            return SpacePaths(prefixes: [])
        }
        return SpacePaths(prefixes: [String(path[...end])])
    }

    /// What a Digest challenge tells (B2.91): nothing means all, and what it says of other servers is not believed.
    static func domain(_ uris: [String], of origin: Origin) -> SpacePaths {
        if uris.isEmpty { return everything }
        let paths = uris.prefix(maximumCount).compactMap { text -> String? in
            let uri = URIReference(text)
            if uri.scheme != nil || uri.authority != nil {
                guard ASCII.isEqual(uri.scheme ?? origin.scheme.name, origin.scheme.name),
                    isAuthority(uri.authority ?? "", of: origin)
                else { return nil }
            }
            let path = uri.path.isEmpty ? "/" : uri.path
            return path.utf8.first == slash && !climbs(path[...]) ? path : nil
        }
        return SpacePaths(prefixes: paths)
    }

    /// How many bytes of a request's path are those of the longest prefix above it; nil when it lies elsewhere.
    func depth(of target: String) -> Int? {
        if self == .everything { return 1 }
        guard let path = Self.path(of: target), !Self.climbs(path) else { return nil }
        var depth: Int?
        for prefix in prefixes where prefix.utf8.count > depth ?? -1 && Self.lies(path, at: prefix) {
            depth = prefix.utf8.count
        }
        return depth
    }

    /// Adds what another knows. What was used long ago may give way to it, where there is no more room.
    mutating func formUnion(_ other: SpacePaths, oldGiveWay: Bool) {
        for prefix in other.prefixes {
            if let known = prefixes.firstIndex(where: { Self.lies(prefix[...], at: $0) }) {
                // A move copies all of them. Where less than half of the room is behind it, its
                // place does not matter yet.
                if oldGiveWay, known < prefixes.count - Self.maximumCount / 2 {
                    prefixes.append(prefixes.remove(at: known))
                }
                continue
            }
            prefixes.removeAll { Self.lies($0[...], at: prefix) }
            if oldGiveWay, prefixes.count == Self.maximumCount { prefixes.removeFirst() }
            if prefixes.count < Self.maximumCount { prefixes.append(prefix) }
        }
    }

    private static func lies(_ path: Substring, at prefix: String) -> Bool {
        guard path.utf8.starts(with: prefix.utf8) else { return false }
        return path.utf8.count == prefix.utf8.count || prefix.utf8.last == slash
            || path.utf8.dropFirst(prefix.utf8.count).first == slash
    }

    /// The path of a target in origin or absolute form.
    private static func path(of target: String) -> Substring? {
        if target.utf8.first == slash {
            let end = target.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
            return target[..<(end ?? target.endIndex)]
        }
        let uri = URIReference(target)
        guard uri.scheme != nil, uri.authority != nil else { return nil }
        return uri.path.isEmpty ? "/" : uri.path[...]
    }

    /// Whether a path goes up by `..`, written plainly or not: then it does not lie where it seems to.
    private static func climbs(_ path: Substring) -> Bool {
        // Of the segment so far.
        var (dots, hasOthers) = (0, false)
        var rest = path.utf8.makeIterator()
        while let byte = rest.next() {
            if byte == slash {
                if !hasOthers, dots == 1 || dots == 2 { return true }
                (dots, hasOthers) = (0, false)
            } else if !hasOthers {
                if isDot(byte, &rest) { dots += 1 } else { hasOthers = true }
            }
        }
        return !hasOthers && (dots == 1 || dots == 2)
    }

    /// Whether a byte is a dot, or with two that follow one that is percent-encoded; takes those two.
    private static func isDot(_ byte: UInt8, _ rest: inout Substring.UTF8View.Iterator) -> Bool {
        if byte == UInt8(ascii: ".") { return true }
        guard byte == UInt8(ascii: "%") else { return false }
        var ahead = rest
        guard ahead.next() == UInt8(ascii: "2"), let last = ahead.next(), ASCII.lowercase(last) == UInt8(ascii: "e")
        else { return false }
        rest = ahead
        return true
    }

    private static func isAuthority(_ authority: String, of origin: Origin) -> Bool {
        ASCII.isEqual(authority, origin.hostField)
            || ASCII.isEqual(authority, "\(origin.hostField):\(origin.port)")
    }

    private static let slash = UInt8(ascii: "/")
}
