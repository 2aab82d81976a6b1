// Which hosts something is for. Does not know what.

/// One host, or every host below a domain.
package enum HostPattern: Sendable, Hashable {
    /// This host.
    case host(HostName)
    /// Every host below this domain, but not the domain itself.
    case below(String)

    /// Reads `*.example.com` as everything below, anything else as one host.
    package init(_ text: String) {
        guard text.hasPrefix("*.") else {
            self = .host(HostName(text))
            return
        }
        // Hosts are compared without their trailing dot (B3.17), so patterns have none either.
        self = .below(HostName(String(text.dropFirst(2))).description)
    }

    /// Reads a pattern that a person has written, perhaps by mistake for something else: a pattern that no host can
    /// match would silently leave its hosts to another rule.
    package init(checking text: String) throws(CertificateError) {
        let pattern = HostPattern(text)
        let isRight =
            switch pattern {
            case .host(.ip): true
            case .host(.dns(let name)), .below(let name): Self.isName(name)
            }
        guard isRight else { throw .notAHost(text) }
        self = pattern
    }

    /// Whether a host is meant.
    package func matches(_ host: HostName) -> Bool {
        switch (self, host) {
        case (.host(let wanted), _): return wanted == host
        case (.below(let domain), .dns(let name)): return name.hasSuffix("." + domain)
        case (.below, .ip): return false
        }
    }

    /// The longer the domain, the more it says; a host says most.
    package var weight: Int {
        switch self {
        case .host: .max
        case .below(let domain): domain.utf8.count
        }
    }

    private static func isName(_ name: String) -> Bool {
        name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            !label.isEmpty
                && label.utf8.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                        UInt8(ascii: "-"), UInt8(ascii: "_"):
                        true
                    default: false
                    }
                }
        }
    }
}

extension Sequence {
    /// The entry whose pattern says most about a host.
    package func mostSpecific<Value>(for host: HostName) -> Value?
    where Element == (pattern: HostPattern, value: Value) {
        self.filter { $0.pattern.matches(host) }.max { $0.pattern.weight < $1.pattern.weight }?.value
    }
}
