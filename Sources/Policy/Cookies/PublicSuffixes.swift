// The names under which anyone can have a name of their own: "com", "co.uk", "github.io". No cookie may be for all of
// such a suffix, and two hosts are of one site if they share the label before it. The list is Mozilla's, in the form in
// which systems have it (publicsuffix.org/list), or as a table of all its rules that the library brings.
//
// Must not know where the list lies.

/// The rules of a list of public suffixes.
package struct PublicSuffixes: Sendable {
    /// The rules of a list that was read; nil where the library's table is asked.
    private let list: Rules?

    /// Reads a list; nil where it holds too few rules to be one.
    package init?(list: some Sequence<UInt8>) {
        var rules = Rules()
        for line in Array(list).split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
            guard !line.starts(with: "//".utf8) else { continue }
            rules.add(line.prefix { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") })
        }
        guard rules.plain.count >= Self.fewest else { return nil }
        self.list = rules
    }

    private init() {
        list = nil
    }

    /// All rules of a list of some day, which the library brings: nothing is read and nothing taken apart for them.
    package static let builtIn = PublicSuffixes()

    /// The day of the built-in rules, as `2023-02-09`.
    package static var builtInDate: String { PublicSuffixTable.date }

    /// The list has thousands of rules.
    private static let fewest = 100

    private struct Rules: Sendable {
        var plain: Set<String> = []
        /// What stands behind the star of rules such as `*.ck`.
        var wildcards: Set<String> = []
        /// Names that such a rule does not mean after all.
        var exceptions: Set<String> = []
        var mostLabels = 1

        mutating func add(_ rule: ArraySlice<UInt8>) {
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

        /// The longest name there can be (RFC 1035 §2.3.4); a rule in other alphabets needs more bytes for a letter.
        private static let longestName = 1024
    }

    // MARK: Asking

    /// Whether a name is a public suffix as a whole.
    package func isPublicSuffix(_ name: String) -> Bool { !name.isEmpty && suffixStart(name) == name.startIndex }

    /// What stands for all hosts that one owner has: the suffix and the label before it; for a suffix, or an address,
    /// the name itself.
    package func site(of host: String) -> Substring {
        let start = suffixStart(host)
        // An address ends in a number or holds colons; no suffix does.
        guard start > host.startIndex, !Self.isAddress(host) else { return host[...] }
        let before = host[..<host.utf8.index(before: start)]
        guard let dot = before.utf8.lastIndex(of: UInt8(ascii: ".")) else { return host[...] }
        return host[before.utf8.index(after: dot)...]
    }

    /// The suffix that a name ends in; the name itself where it is one.
    package func suffix(of name: String) -> Substring { name[suffixStart(name)...] }

    /// Whether a domain, in which `host` lies, is more than what one owner has: the host's suffix, or above it (B8.33).
    package func isTooWide(_ domain: String, for host: String) -> Bool {
        domain.utf8.count <= suffix(of: host).utf8.count || isPublicSuffix(domain)
    }

    /// Where the suffix of a name begins, by the rule with most labels; an exception wins, and without any rule the
    /// last label is the suffix.
    private func suffixStart(_ name: String) -> String.Index {
        let starts = labelStarts(name)
        for (index, start) in starts.enumerated() {
            let next = index + 1 < starts.count ? starts[index + 1] : nil
            switch rule(about: name[start...], below: next.map { name[$0...] }) {
            case .exception: return next ?? start
            case .suffix: return start
            case .none: continue
            }
        }
        return starts.last ?? name.startIndex
    }

    fileprivate enum Rule {
        case none
        case suffix
        case exception
    }

    /// What is said of a name, by itself or by a star in the place of its first label.
    private func rule(about name: Substring, below parent: Substring?) -> Rule {
        guard let list else {
            // Of a single label the table says nothing.
            guard let parent else { return .none }
            return SuffixTable.rule(of: name.utf8.dropLast(parent.utf8.count + 1), below: parent.utf8)
        }
        let candidate = String(name)
        if list.exceptions.contains(candidate) { return .exception }
        if list.plain.contains(candidate) { return .suffix }
        if let parent, list.wildcards.contains(String(parent)) { return .suffix }
        return .none
    }

    /// Where the last labels begin, first one first: as many as any rule has, so that long names cost no more.
    private func labelStarts(_ name: String) -> [String.Index] {
        let mostLabels = list?.mostLabels ?? PublicSuffixTable.mostLabels
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
}

/// Looks up in the library's table, where it stands.
private enum SuffixTable {
    private typealias Bytes = UnsafeBufferPointer<UInt8>

    private static var text: Bytes { bytes(PublicSuffixTable.text) }
    private static var places: Bytes { bytes(PublicSuffixTable.places) }

    private static func bytes(_ text: StaticString) -> Bytes {
        Bytes(start: text.utf8Start, count: text.utf8CodeUnitCount)
    }

    /// What is said of a label below a name.
    static func rule(of label: Substring.UTF8View, below name: Substring.UTF8View) -> PublicSuffixes.Rule {
        inOnePiece(name) { name in
            guard let labels = labels(behind: name) else { return .none }
            return inOnePiece(label) { rule(of: $0, in: labels) }
        }
    }

    /// The bytes of a native string are in one piece; the bytes of any other string are copied.
    private static func inOnePiece<Result>(_ bytes: Substring.UTF8View, _ body: (Bytes) -> Result) -> Result {
        bytes.withContiguousStorageIfAvailable(body) ?? Array(bytes).withUnsafeBufferPointer(body)
    }

    /// The labels that stand behind a name, found by halving.
    private static func labels(behind name: Bytes) -> Range<Int>? {
        let count = places.count / PublicSuffixTable.placeDigits
        var (low, high) = (0, count)
        while low < high {
            let middle = low + (high - low) / 2
            let start = place(middle)
            let equals = end(from: start, UInt8(ascii: "="), before: text.count)
            switch order(of: start..<equals, name) {
            case 0: return equals + 1..<(middle + 1 < count ? place(middle + 1) : text.count) - 1
            case ..<0: low = middle + 1
            default: high = middle
            }
        }
        return nil
    }

    /// What an entry's labels say of a label. Exceptions stand before a star, and both before all others, which
    /// are searched by halving.
    private static func rule(of label: Bytes, in labels: Range<Int>) -> PublicSuffixes.Rule {
        var (low, high) = (labels.lowerBound, labels.upperBound)
        while low < high, text[low] < UInt8(ascii: "-") {
            if text[low] == UInt8(ascii: "*") { return .suffix }
            let stop = end(from: low, UInt8(ascii: ","), before: high)
            if order(of: low + 1..<stop, label) == 0 { return .exception }
            low = stop + 1
        }
        while low < high {
            var start = low + (high - low) / 2
            while start > low, text[start - 1] != UInt8(ascii: ",") { start -= 1 }
            let stop = end(from: start, UInt8(ascii: ","), before: high)
            switch order(of: start..<stop, label) {
            case 0: return .suffix
            case ..<0: low = stop + 1
            default: high = start
            }
        }
        return .none
    }

    /// Where an entry begins.
    private static func place(_ number: Int) -> Int {
        var place = 0
        let first = number * PublicSuffixTable.placeDigits
        for index in first..<first + PublicSuffixTable.placeDigits {
            place = place * 10 + Int(places[index] - UInt8(ascii: "0"))
        }
        return place
    }

    /// Where a mark stands first, or the end.
    private static func end(from start: Int, _ mark: UInt8, before end: Int) -> Int {
        var index = start
        while index < end, text[index] != mark { index += 1 }
        return index
    }

    /// Below zero where a part of the text comes before other bytes, and zero where it is the same.
    private static func order(of range: Range<Int>, _ other: Bytes) -> Int {
        for offset in 0..<min(range.count, other.count) {
            let difference = Int(text[range.lowerBound + offset]) - Int(other[offset])
            if difference != 0 { return difference }
        }
        return range.count - other.count
    }
}
