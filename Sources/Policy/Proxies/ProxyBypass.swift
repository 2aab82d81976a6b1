// Hosts that are reached without a proxy, as three kinds of lists name them: `no_proxy` of the environment (B13.9,
// B13.10), `ExceptionsList` of a dictionary (B13.8), and domains.
//
// Hosts are compared in normal form: lower case, A-labels, no trailing dot. Nothing is ever looked up (B13.9).

/// A set of hosts, some of them on one port only.
package struct ProxyBypass: Sendable, Equatable {
    private var rules: [Rule] = []
    /// Names without a dot belong to it (B13.8).
    private var hasSimpleNames = false

    private struct Rule: Sendable, Equatable {
        let hosts: Hosts
        /// Nil for every port.
        let port: Int?
    }

    private enum Hosts: Sendable, Equatable {
        case all
        /// The domain itself and everything below it.
        case domain(String)
        /// What the pattern fits, in which `*` stands for any text.
        case pattern([UInt8])
        case address(NumericAddress)
        case range(AddressRange)
    }

    /// A list that names no host.
    package init() {}

    /// What `no_proxy` says: entries between commas or blanks, each for the host, everything below it, and every port
    /// unless it names one; `*` for all hosts (B13.9, B13.10). What cannot be understood is left out.
    package init(noProxy list: String) {
        let entries = list.split { $0 == "," || $0.isWhitespace }
        self.init(domains: entries.map(String.init))
    }

    /// Domains with everything below them, addresses and ranges, in the form of entries of `no_proxy`.
    package init(domains: [String]) {
        rules = domains.compactMap { Self.rule($0, names: Self.domain) }
    }

    /// What `ExceptionsList` and `ExcludeSimpleHostnames` say: names that are exact unless they begin with a dot or
    /// hold a `*`, addresses and ranges (B13.8).
    package init(exceptions: [String], excludesSimpleNames: Bool) {
        rules = exceptions.compactMap { Self.rule($0, names: Self.pattern) }
        hasSimpleNames = excludesSimpleNames
    }

    /// Whether it names no host.
    package var isEmpty: Bool { rules.isEmpty && !hasSimpleNames }

    /// Whether a host, in normal form without brackets, belongs to it on this port.
    package func covers(host: String, port: Int) -> Bool {
        guard !isEmpty else { return false }
        let host = host.utf8.last == UInt8(ascii: ".") ? host.dropLast() : host[...]
        let address = NumericAddress(host)
        if hasSimpleNames, address == nil, !host.utf8.contains(UInt8(ascii: ".")) { return true }
        return rules.contains { rule in
            guard rule.port == nil || rule.port == port else { return false }
            switch rule.hosts {
            case .all: return true
            // The text of an address has no domains: 10.0.0.1 is not below "1".
            case .domain(let name): return address == nil && Self.isWithin(host, name)
            case .pattern(let pattern): return Self.fits(Array(host.utf8)[...], pattern[...])
            case .address(let wanted): return address == wanted
            case .range(let range): return address.map(range.contains) ?? false
            }
        }
    }

    // MARK: Reading an entry

    private static func rule(_ entry: String, names: (Substring) -> Hosts?) -> Rule? {
        let bytes = entry.utf8.filter { !ASCII.isBlank($0) }.map { ASCII.lowercase($0) }
        let text = String(decoding: bytes, as: UTF8.self)[...]
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        // An IPv6 address is full of colons, so that only brackets can set its port apart.
        if let hosts = numeric(text) { return Rule(hosts: hosts, port: nil) }
        guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")) else {
            return hosts(text, names).map { Rule(hosts: $0, port: nil) }
        }
        if text.utf8.first == UInt8(ascii: "["), text.utf8.last == UInt8(ascii: "]") {
            return hosts(text, names).map { Rule(hosts: $0, port: nil) }
        }
        guard let port = ASCII.decimal(text[text.utf8.index(after: colon)...].utf8), (1...65535).contains(port),
            let hosts = hosts(text[..<colon], names)
        else { return nil }
        return Rule(hosts: hosts, port: Int(port))
    }

    private static func hosts(_ text: Substring, _ names: (Substring) -> Hosts?) -> Hosts? {
        if text.utf8.first == UInt8(ascii: "["), text.utf8.last == UInt8(ascii: "]") {
            return numeric(text.dropFirst().dropLast())
        }
        // What is left with colons is no name.
        guard !text.utf8.contains(UInt8(ascii: ":")) else { return nil }
        return text == "*" ? .all : numeric(text) ?? names(text)
    }

    private static func numeric(_ text: Substring) -> Hosts? {
        NumericAddress(text).map(Hosts.address) ?? AddressRange(text).map(Hosts.range)
    }

    /// `example.com`, `.example.com` and `*.example.com` alike.
    private static func domain(_ text: Substring) -> Hosts? {
        var name = text.hasPrefix("*.") ? text.dropFirst() : text
        while name.utf8.first == UInt8(ascii: ".") { name = name.dropFirst() }
        while name.utf8.last == UInt8(ascii: ".") { name = name.dropLast() }
        return name.isEmpty || name.utf8.contains(UInt8(ascii: "/")) ? nil : .domain(String(name))
    }

    private static func pattern(_ text: Substring) -> Hosts? {
        let name = text.utf8.last == UInt8(ascii: ".") ? text.dropLast() : text
        guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "/")) else { return nil }
        return .pattern(Array((name.utf8.first == UInt8(ascii: ".") ? "*" + name : name).utf8))
    }

    // MARK: Comparing names

    private static func isWithin(_ host: Substring, _ domain: String) -> Bool {
        host == domain || host.hasSuffix("." + domain)
    }

    /// Whether a pattern stands for the whole text. Each `*` but the last takes as little as it can, so that no
    /// pattern takes longer than its length times the text's.
    private static func fits(_ text: ArraySlice<UInt8>, _ pattern: ArraySlice<UInt8>) -> Bool {
        var (text, pattern) = (text, pattern)
        /// Where to go on when what follows the last `*` does not fit.
        var retry: (text: ArraySlice<UInt8>, pattern: ArraySlice<UInt8>)?
        while true {
            if pattern.first == UInt8(ascii: "*") {
                pattern = pattern.dropFirst()
                retry = (text, pattern)
            } else if let wanted = pattern.first, wanted == text.first {
                pattern = pattern.dropFirst()
                text = text.dropFirst()
            } else if pattern.isEmpty, text.isEmpty {
                return true
            } else if let last = retry, !last.text.isEmpty {
                text = last.text.dropFirst()
                pattern = last.pattern
                retry = (text, pattern)
            } else {
                return false
            }
        }
    }
}
