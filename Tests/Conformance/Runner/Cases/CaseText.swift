// The text of case files: escapes for bytes that no line could hold, and words in braces that stand for what is known
// only when the case runs.
//
// Must not know: what a word means. docs/conformance-cases.md.

/// Text of a case, taken apart.
struct CaseText: Sendable, Equatable {
    /// A piece of it.
    enum Part: Sendable, Equatable {
        /// Bytes as they are.
        case bytes([UInt8])
        /// What stood in braces, cut at its spaces or, where there is none, at its colon.
        case words([String])
    }

    let parts: [Part]

    /// Reads `\r \n \t \0 \\ \xNN`, `\{text*count}` and `{words}`; without escapes where JSON has its own.
    init(_ text: some StringProtocol, withEscapes: Bool = true) throws(CaseFault) {
        var parts: [Part] = []
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\\") where withEscapes:
                bytes += try Self.escape(&rest)
            case UInt8(ascii: "{"):
                let group = try Self.group(&rest)
                // {port:a} where a space would end the word that it stands in.
                let words =
                    group.contains(" ")
                    ? group.split(separator: " ").map(String.init)
                    : group.split(separator: ":", maxSplits: 1).map(String.init)
                guard !words.isEmpty else { throw CaseFault("nothing stands in the braces") }
                if !bytes.isEmpty { parts.append(.bytes(bytes)) }
                bytes = []
                parts.append(.words(words))
            default:
                bytes.append(byte)
            }
        }
        if !bytes.isEmpty { parts.append(.bytes(bytes)) }
        self.parts = parts
    }

    private static func escape(_ rest: inout ArraySlice<UInt8>) throws(CaseFault) -> [UInt8] {
        switch rest.popFirst() {
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "0"): return [0]
        case UInt8(ascii: "\\"): return [0x5C]
        case UInt8(ascii: "x"):
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.utf8.count == 2, let byte = UInt8(digits, radix: 16) else {
                throw CaseFault("\\x is not followed by two hexadecimal digits")
            }
            rest = rest.dropFirst(2)
            return [byte]
        case UInt8(ascii: "{"):
            let group = try group(&rest)
            guard let star = group.lastIndex(of: "*"),
                let count = Int(group[group.index(after: star)...]), (0...1 << 20).contains(count)
            else { throw CaseFault("\\{text*count} has no count") }
            let repeated = try CaseText(group[..<star])
            guard repeated.parts.count <= 1, case .bytes(let bytes)? = repeated.parts.first ?? .bytes([]) else {
                throw CaseFault("\\{text*count} holds more than text")
            }
            // By doubling: a megabyte, byte by byte, is half a second of a build for debugging.
            var run = count > 0 ? bytes : []
            while run.count < bytes.count * count { run += run.prefix(bytes.count * count - run.count) }
            return run
        default:
            throw CaseFault("an unknown escape")
        }
    }

    /// What stands before the closing brace.
    private static func group(_ rest: inout ArraySlice<UInt8>) throws(CaseFault) -> String {
        guard let end = rest.firstIndex(of: UInt8(ascii: "}")) else { throw CaseFault("a brace is not closed") }
        defer { rest = rest[(end + 1)...] }
        return String(decoding: rest[..<end], as: UTF8.self)
    }
}

/// What is wrong with a case file; where is added by the file's reader.
struct CaseFault: Error, Equatable {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}
