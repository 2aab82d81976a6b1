// Under which names anybody can have a name of their own: "com", "co.uk", "github.io". No cookie may be for all of such a
// suffix, and two hosts are of one site if they share the label before it. The list is Mozilla's, in the form in which
// systems have it (publicsuffix.org/list); without one a few of its rules must do.
//
// Must not know where the list lies.

/// The rules of a list of public suffixes.
package struct PublicSuffixes: Sendable {
    private var plain: Set<String> = []
    /// What stands behind the star of rules such as `*.ck`.
    private var wildcards: Set<String> = []
    /// Names that such a rule does not mean after all.
    private var exceptions: Set<String> = []
    private var mostLabels = 1

    /// Reads a list; nil where it holds too few rules to be one.
    package init?(list: some Sequence<UInt8>) {
        for line in Array(list).split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
            guard !line.starts(with: "//".utf8) else { continue }
            add(rule: line.prefix { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") })
        }
        guard plain.count >= Self.fewest else { return nil }
    }

    private init(rules: [String]) {
        for rule in rules { add(rule: ArraySlice(rule.utf8)) }
    }

    /// What is known where the system has no list. Every last label counts as a suffix anyway.
    package static let builtIn = PublicSuffixes(rules: commonRules)

    private mutating func add(rule: ArraySlice<UInt8>) {
        guard (1...Self.longestName).contains(rule.count) else { return }
        if rule.first == UInt8(ascii: "!") {
            if let name = Self.name(rule.dropFirst()) { exceptions.insert(name) }
        } else if rule.starts(with: "*.".utf8) {
            if let name = Self.name(rule.dropFirst(2)) { wildcards.insert(name) }
        } else if let name = Self.name(rule) {
            plain.insert(name)
        }
        mostLabels = max(mostLabels, rule.count { $0 == UInt8(ascii: ".") } + 1)
    }

    /// The name as it stands in URLs: labels of other alphabets in their ASCII form.
    private static func name(_ bytes: ArraySlice<UInt8>) -> String? {
        if bytes.allSatisfy({ $0 < 0x80 }) { return String(decoding: bytes.map(ASCII.lowercase), as: UTF8.self) }
        let labels = String(decoding: bytes, as: UTF8.self).split(separator: ".", omittingEmptySubsequences: false)
        return labels.map { Punycode.label(String($0).lowercased()) }.joined(separator: ".")
    }

    // MARK: Asking

    /// Whether a name is a public suffix as a whole.
    package func isPublicSuffix(_ name: String) -> Bool { !name.isEmpty && suffixStart(name) == name.startIndex }

    /// What stands for all hosts that one owner has: the suffix and the label before it; for a suffix, or an address, the
    /// name itself.
    package func site(of host: String) -> Substring {
        let start = suffixStart(host)
        // An address ends in a number or holds colons; no suffix does.
        guard start > host.startIndex, !Self.isAddress(host) else { return host[...] }
        let before = host[..<host.utf8.index(before: start)]
        guard let dot = before.utf8.lastIndex(of: UInt8(ascii: ".")) else { return host[...] }
        return host[before.utf8.index(after: dot)...]
    }

    /// Where the suffix of a name begins, by the rule with most labels; an exception wins, and without any rule the last
    /// label is the suffix.
    private func suffixStart(_ name: String) -> String.Index {
        let starts = labelStarts(name)
        for (index, start) in starts.enumerated() {
            let candidate = String(name[start...])
            let next = index + 1 < starts.count ? starts[index + 1] : nil
            if exceptions.contains(candidate) { return next ?? start }
            if plain.contains(candidate) { return start }
            if let next, wildcards.contains(String(name[next...])) { return start }
        }
        return starts.last ?? name.startIndex
    }

    /// Where the last labels begin, first one first: as many as any rule has, so that long names cost no more.
    private func labelStarts(_ name: String) -> [String.Index] {
        var starts: [String.Index] = []
        var end = name.endIndex
        while starts.count <= mostLabels {
            guard let dot = name[..<end].utf8.lastIndex(of: UInt8(ascii: ".")) else {
                starts.append(name.startIndex)
                break
            }
            starts.append(name.utf8.index(after: dot))
            end = dot
        }
        return starts.reversed()
    }

    private static func isAddress(_ host: String) -> Bool {
        host.utf8.contains(UInt8(ascii: ":")) || IPv4Text.isValid(ArraySlice(host.utf8))
    }

    /// The longest name there can be (RFC 1035 §2.3.4); a rule in other alphabets needs more bytes for a letter.
    private static let longestName = 1024
    /// The list has thousands of rules.
    private static let fewest = 100

    private static var commonRules: [String] {
        var rules = [
            "*.bn", "*.ck", "*.er", "*.fk", "*.jm", "*.kh", "*.np", "*.pg", "!www.ck", "appspot.com",
            "azurewebsites.net", "blogspot.com", "cloudfront.net", "duckdns.org", "firebaseapp.com", "fly.dev",
            "github.io", "githubusercontent.com", "gitlab.io", "glitch.me", "herokuapp.com", "netlify.app", "ngrok.io",
            "onrender.com", "pages.dev", "readthedocs.io", "s3.amazonaws.com", "surge.sh", "vercel.app", "web.app",
            "workers.dev",
        ]
        for country in countries {
            let words = country.split(separator: " ")
            for label in words.dropFirst() { rules.append("\(label).\(words[0])") }
        }
        return rules
    }

    /// Countries below whose name it is not names that are given away, but kinds of names; the kinds behind each.
    private static let countries = [
        "ar com edu gob net org", "at ac co gv or", "au asn com edu gov id net org", "br art blog com edu gov net org",
        "cn ac com edu gov net org", "co com edu gov net org", "eg com edu gov net org", "hk com edu gov net org",
        "id ac co go or sch web", "il ac co gov net org", "in ac co edu firm gen gov ind net org",
        "jp ac ad co ed go gr lg ne or", "kr ac co go ne or re", "mx com edu gob net org", "my com edu gov net org",
        "ng com edu gov net org", "nz ac co geek gen govt net org school", "pe com edu gob net org",
        "ph com edu gov net org", "pk com edu gov net org", "pl com edu gov net org", "sa com edu gov net org",
        "sg com edu gov net org", "th ac co go in or", "tr com edu gov net org", "tw com edu gov net org",
        "ua com edu gov net org", "uk ac co gov ltd me net nhs org plc police", "vn com edu gov net org",
        "za ac co gov net org web",
    ]
}
