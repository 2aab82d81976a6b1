// The directives of a message's Cache-Control fields, read from bytes in one pass: RFC 9111 §5.2, RFC 8246, behaviour
// B7.47, B7.56 to B7.58, B7.62, B7.65. It must not know which message they came with or what follows from them.
//
// Where the bytes can be read in two ways, the reading that stores less and asks the server more often is taken: a
// restriction counts whatever its argument, a number counts only if it is nothing but digits.

import URLLoadingWire

/// What the Cache-Control fields of one message say.
package struct CacheControl: Sendable, Equatable {
    /// The argument of a directive that takes a number of seconds.
    package enum Seconds: Sendable, Equatable {
        /// The directive is not there.
        case absent
        /// It is there without a number, or twice with different ones (B7.56, B7.57).
        case invalid
        /// Its number, 2^31 at most (B7.58).
        case count(Int64)
    }

    /// Whether there is any Cache-Control field.
    package private(set) var isPresent = false
    /// How long an answer is fresh; how old it may be, where a request asks.
    package private(set) var maxAge = Seconds.absent
    /// How long an answer must stay fresh to be of use.
    package private(set) var minFresh = Seconds.absent
    /// How stale an answer may be; without an argument any age will do.
    package private(set) var maxStale = Seconds.absent
    /// Nothing of the exchange may be stored.
    package private(set) var noStore = false
    /// A stored answer has to be validated each time; the form with field names is treated the same (B7.62).
    package private(set) var noCache = false
    /// Once stale, never used without validation (B7.63).
    package private(set) var mustRevalidate = false
    /// The answer does not change while it is fresh (B7.64).
    package private(set) var isImmutable = false
    /// A cache may keep the answer for others than the user who has asked (RFC 9111 §3.5).
    package private(set) var isPublic = false
    /// The network must not be used.
    package private(set) var onlyIfCached = false

    /// Reads the fields of a message; unknown directives and those of shared caches are passed over (B7.47, B7.57).
    package init(_ fields: Fields) {
        fields.forEachValue(.cacheControl) { value in
            isPresent = true
            var directives = DirectiveScanner(value)
            while let directive = directives.next() { read(directive) }
        }
    }

    private mutating func read(_ directive: DirectiveScanner.Directive) {
        let name = directive.name
        // The lengths tell most names apart.
        switch name.count {
        case 7 where ASCII.isEqual(name, "max-age"): maxAge = merged(maxAge, directive)
        case 9 where ASCII.isEqual(name, "min-fresh"): minFresh = merged(minFresh, directive)
        case 9 where ASCII.isEqual(name, "max-stale"):
            maxStale =
                directive.argument == nil && maxStale == .absent ? .count(Self.maximum) : merged(maxStale, directive)
        case 6 where ASCII.isEqual(name, "public"): if directive.argument == nil { isPublic = true }
        case 8 where ASCII.isEqual(name, "no-store"): noStore = true
        case 8 where ASCII.isEqual(name, "no-cache"): noCache = true
        case 15 where ASCII.isEqual(name, "must-revalidate"): mustRevalidate = true
        case 9 where ASCII.isEqual(name, "immutable"): isImmutable = true
        case 14 where ASCII.isEqual(name, "only-if-cached"): onlyIfCached = true
        default: break
        }
    }

    private func merged(_ known: Seconds, _ directive: DirectiveScanner.Directive) -> Seconds {
        guard let argument = directive.argument, directive.isTight, let count = Self.seconds(argument) else {
            return .invalid
        }
        return known == .absent || known == .count(count) ? .count(count) : .invalid
    }

    /// The number that digits are, 2^31 at most however many they are (RFC 9111 §1.2.2); nil for anything else.
    package static func seconds(_ text: UnsafeRawBufferPointer) -> Int64? {
        guard !text.isEmpty else { return nil }
        var count: Int64 = 0
        for byte in text {
            guard ASCII.isDigit(byte) else { return nil }
            count = min(count * 10 + Int64(byte - UInt8(ascii: "0")), maximum)
        }
        return count
    }

    /// The most seconds that are counted (B7.58).
    package static let maximum: Int64 = 1 << 31
}

/// Whether a request asks for validation by the field that came before Cache-Control; without a meaning in responses
/// (B7.65).
package enum Pragma {
    /// Whether the fields have `Pragma: no-cache`.
    package static func asksForValidation(_ fields: Fields) -> Bool {
        var isFound = false
        fields.forEachValue(.pragma) { value in
            var directives = DirectiveScanner(value)
            while !isFound, let directive = directives.next() {
                isFound = ASCII.isEqual(directive.name, "no-cache")
            }
        }
        return isFound
    }
}

/// Takes a list of directives apart, in time that grows with its length only.
struct DirectiveScanner {
    /// One member of the list.
    struct Directive {
        /// Before the first `=`, without white space around it; may be empty.
        let name: UnsafeRawBufferPointer
        /// Behind the first `=`, quotes included; nil where there is none.
        let argument: UnsafeRawBufferPointer?
        /// Whether no white space lies around the `=`.
        let isTight: Bool
    }

    private let bytes: UnsafeRawBufferPointer
    private var position = 0
    /// A quote without its closing one has been met: those behind it are plain bytes, so that nothing hides there.
    private var quotesArePlain = false

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// The next member that is not empty, nil after the last one.
    mutating func next() -> Directive? {
        while position < bytes.count {
            let start = position
            let end = endOfMember()
            position = end + 1
            let member = Self.trimmed(bytes, start, end)
            if !member.isEmpty { return Self.directive(member) }
        }
        return nil
    }

    private mutating func endOfMember() -> Int {
        var index = position
        while index < bytes.count, bytes[index] != UInt8(ascii: ",") {
            if bytes[index] == UInt8(ascii: "\""), !quotesArePlain {
                if let closing = closingQuote(after: index) { index = closing } else { quotesArePlain = true }
            }
            index += 1
        }
        return index
    }

    private func closingQuote(after opening: Int) -> Int? {
        var index = opening + 1
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "\"") { return index }
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return nil
    }

    private static func directive(_ member: UnsafeRawBufferPointer) -> Directive {
        guard let equals = member.firstIndex(of: UInt8(ascii: "=")) else {
            return Directive(name: member, argument: nil, isTight: true)
        }
        let name = trimmed(member, 0, equals)
        let argument = trimmed(member, equals + 1, member.count)
        return Directive(
            name: name, argument: argument, isTight: name.count + 1 + argument.count == member.count)
    }

    private static func trimmed(_ bytes: UnsafeRawBufferPointer, _ start: Int, _ end: Int) -> UnsafeRawBufferPointer {
        var (start, end) = (start, end)
        while start < end, Tokens.isWhitespace(bytes[start]) { start += 1 }
        while start < end, Tokens.isWhitespace(bytes[end - 1]) { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: bytes[start..<end])
    }
}
