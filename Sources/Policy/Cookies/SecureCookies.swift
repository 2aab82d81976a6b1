// Which Secure cookies a jar holds, found by what a cookie that would hide one has in common with it (RFC
// 6265bis §5.7): the name, a domain that is the same, above or below, and a path at or above the new one's. One answer
// may set hundreds of cookies beside thousands, so none is looked for by going through all.

import URLLoadingWire

/// The Secure cookies of a jar.
struct SecureCookies: Sendable {
    private struct Key: Hashable {
        let name: ExactText
        let domain: String
    }

    /// How many there are of each path.
    private typealias Paths = [ExactText: Int]

    /// By the domain they are for.
    private var here: [Key: Paths] = [:]
    /// By that and each name above it.
    private var hereOrBelow: [Key: Paths] = [:]

    /// How many keys and paths questions and changes have looked at so far: what they cost.
    private(set) var steps = 0

    mutating func add(_ cookie: Cookie) { change(cookie, by: 1) }

    mutating func remove(_ cookie: Cookie) { change(cookie, by: -1) }

    private mutating func change(_ cookie: Cookie, by difference: Int) {
        guard cookie.isSecure else { return }
        steps &+= 1
        let (name, path) = (ExactText(cookie.name), ExactText(cookie.path))
        Self.change(&here, Key(name: name, domain: cookie.domain), path, by: difference)
        for domain in CookiePlace.upwards(from: cookie.domain) {
            steps &+= 1
            Self.change(&hereOrBelow, Key(name: name, domain: domain), path, by: difference)
        }
    }

    private static func change(_ all: inout [Key: Paths], _ key: Key, _ path: ExactText, by difference: Int) {
        // In place, so that a key is looked for a second time only where its last path goes.
        if change(&all[key, default: [:]], path, by: difference) { all[key] = nil }
    }

    /// Whether no path is left.
    private static func change(_ paths: inout Paths, _ path: ExactText, by difference: Int) -> Bool {
        let count = (paths[path] ?? 0) + difference
        paths[path] = count > 0 ? count : nil
        return paths.isEmpty
    }

    /// Whether a cookie would be sent in the place of a Secure one, or beside it.
    mutating func areHidden(by cookie: Cookie) -> Bool {
        guard !here.isEmpty else { return false }
        for (index, domain) in CookiePlace.upwards(from: cookie.domain).enumerated() {
            steps &+= 1
            let key = Key(name: ExactText(cookie.name), domain: domain)
            guard let paths = index == 0 ? hereOrBelow[key] : here[key] else { continue }
            if holds(paths, at: cookie.path) { return true }
        }
        return false
    }

    /// Whether a path, or one above it, is among others: by whichever are fewer.
    private mutating func holds(_ paths: Paths, at path: String) -> Bool {
        let depth = path.utf8.count { $0 == UInt8(ascii: "/") }
        guard depth < paths.count / 2 else {
            steps &+= paths.count
            return paths.keys.contains { CookiePlace.isPath(path, within: $0.text) }
        }
        var end = path.endIndex
        while true {
            steps &+= 2
            // Each folder is written with its slash or without.
            if paths[ExactText(String(path[..<end]))] != nil { return true }
            guard let slash = path[..<end].utf8.lastIndex(of: UInt8(ascii: "/")) else { return false }
            if paths[ExactText(String(path[...slash]))] != nil { return true }
            end = slash
        }
    }
}
