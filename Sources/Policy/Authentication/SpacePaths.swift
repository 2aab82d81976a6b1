// Which requests to a server lie in a space that is known already: by the directory for Basic, by `domain` for Digest.
// RFC 7617 §2.2, RFC 7616 §3.3; behaviour B2.77, B2.91. Proxies have no paths: all of them is one space.

/// The part of a server that one space covers, as far as it is known.
struct SpacePaths: Sendable, Equatable {
    /// More are not remembered; requests elsewhere are asked for their credential once more.
    static let maximumCount = 64

    /// Paths, each standing for itself and what lies below it.
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
            return path.utf8.first == slash && !climbs(path) ? path : nil
        }
        return SpacePaths(prefixes: paths)
    }

    /// How many bytes of a request's path are those of the longest prefix above it; nil when it lies elsewhere.
    func depth(of target: String) -> Int? {
        if self == .everything { return 1 }
        guard let path = Self.path(of: target), !Self.climbs(path) else { return nil }
        return prefixes.filter { Self.lies(path, at: $0) }.map(\.utf8.count).max()
    }

    /// Adds what another knows.
    mutating func formUnion(_ other: SpacePaths) {
        for prefix in other.prefixes where !prefixes.contains(where: { Self.lies(prefix, at: $0) }) {
            prefixes.removeAll { Self.lies($0, at: prefix) }
            if prefixes.count < Self.maximumCount { prefixes.append(prefix) }
        }
    }

    private static func lies(_ path: String, at prefix: String) -> Bool {
        guard path.utf8.starts(with: prefix.utf8) else { return false }
        return path.utf8.count == prefix.utf8.count || prefix.utf8.last == slash
            || path.utf8.dropFirst(prefix.utf8.count).first == slash
    }

    /// The path of a target in origin or absolute form.
    private static func path(of target: String) -> String? {
        if target.utf8.first == slash {
            return String(decoding: target.utf8.prefix { !"?#".utf8.contains($0) }, as: UTF8.self)
        }
        let uri = URIReference(target)
        guard uri.scheme != nil, uri.authority != nil else { return nil }
        return uri.path.isEmpty ? "/" : uri.path
    }

    /// Whether a path goes up by `..`, written plainly or not: then it does not lie where it seems to.
    private static func climbs(_ path: String) -> Bool {
        path.utf8.split(separator: slash).contains { segment in
            var (rest, dots) = (Array(segment)[...], 0)
            while let byte = rest.popFirst() {
                if byte == UInt8(ascii: "%"), rest.count >= 2, rest.removeFirst() == UInt8(ascii: "2"),
                    ASCII.lowercase(rest.removeFirst()) == UInt8(ascii: "e")
                {
                    dots += 1
                } else if byte == UInt8(ascii: ".") {
                    dots += 1
                } else {
                    return false
                }
            }
            return dots == 1 || dots == 2
        }
    }

    private static func isAuthority(_ authority: String, of origin: Origin) -> Bool {
        ASCII.isEqual(authority, origin.hostField)
            || ASCII.isEqual(authority, "\(origin.hostField):\(origin.port)")
    }

    private static let slash = UInt8(ascii: "/")
}
