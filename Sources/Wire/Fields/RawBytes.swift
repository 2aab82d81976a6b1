// Small questions about runs of bytes that lie in a field section: equality with and without regard to case, trimming,
// list members, text. Everything here works inside given bounds and never fails on what the bytes are.

extension UnsafeRawBufferPointer {
    /// Whether both runs are the same ASCII text but for the case of letters.
    @inline(__always)
    func equalsIgnoringCase(_ other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        var index = 0
        while index < count {
            // Measured: nearly all peers write names with the same capitals, so eight bytes are tried at once.
            if count &- index >= 8,
                loadUnaligned(fromByteOffset: index, as: UInt64.self)
                    == other.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            {
                index &+= 8
                continue
            }
            let (left, right) = (self[index], other[index])
            guard left == right || ASCII.lowercased(left) == ASCII.lowercased(right) else { return false }
            index &+= 1
        }
        return true
    }

    /// Whether the run is this ASCII text but for the case of letters.
    @inline(__always)
    func equalsIgnoringCase(_ text: StaticString) -> Bool {
        equalsIgnoringCase(text.bytes)
    }

    /// Whether both runs are the same bytes.
    @inline(__always)
    package func isSame(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        guard count >= 8 else {
            var index = 0
            while index < count {
                guard self[index] == other[index] else { return false }
                index &+= 1
            }
            return true
        }
        var index = 0
        while index < count {
            // The last eight bytes may have been looked at in part.
            let place = Swift.min(index, count &- 8)
            guard
                loadUnaligned(fromByteOffset: place, as: UInt64.self)
                    == other.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            else { return false }
            index &+= 8
        }
        return true
    }

    /// Whether the run is this ASCII text.
    @inline(__always)
    func isSame(as text: StaticString) -> Bool {
        isSame(as: text.bytes)
    }

    /// The part of the run between two offsets, cut to what exists.
    @inline(__always)
    func part(_ start: Int, _ end: Int) -> UnsafeRawBufferPointer {
        let from = Swift.min(Swift.max(start, 0), count)
        let to = Swift.min(Swift.max(end, from), count)
        guard let base = baseAddress else { return self }
        return UnsafeRawBufferPointer(start: base + from, count: to &- from)
    }

    /// The run without white space at both ends (RFC 9110 §5.6.3).
    @inline(__always)
    var trimmed: UnsafeRawBufferPointer {
        var (start, end) = (0, count)
        while start < end, Tokens.isWhitespace(self[start]) { start += 1 }
        while start < end, Tokens.isWhitespace(self[end - 1]) { end -= 1 }
        return part(start, end)
    }

    /// The text the bytes are: UTF-8 where they are valid UTF-8, else ISO-8859-1 (B5.47).
    package var text: String {
        if let text = String(validating: self, as: UTF8.self) { return text }
        var scalars = String.UnicodeScalarView()
        for byte in self { scalars.append(Unicode.Scalar(byte)) }
        return String(scalars)
    }

    /// Whether `text`, sent as UTF-8, is these bytes again.
    package var isUTF8: Bool { String(validating: self, as: UTF8.self) != nil }

    /// The decimal number the bytes are, nil unless they are one or more digits and at most `Int64.max`.
    var decimal: Int64? {
        guard !isEmpty else { return nil }
        var number: Int64 = 0
        for byte in self {
            guard ASCII.isDigit(byte) else { return nil }
            let (product, productOverflows) = number.multipliedReportingOverflow(by: 10)
            let (sum, sumOverflows) = product.addingReportingOverflow(Int64(byte &- ASCII.zero))
            guard !productOverflows, !sumOverflows else { return nil }
            number = sum
        }
        return number
    }
}

extension StaticString {
    /// The bytes of a text of more than one character.
    @inline(__always)
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: utf8Start, count: utf8CodeUnitCount) }
}

extension String {
    /// Calls `body` with the bytes of the text as UTF-8.
    @inline(__always)
    func withUTF8Span<R>(_ body: (RawSpan) -> R) -> R {
        if let result = utf8.withContiguousStorageIfAvailable({ body(RawSpan(_unsafeElements: $0)) }) {
            return result
        }
        return body(Array(utf8).span.bytes)
    }

    /// Calls `body` with the bytes of the text as UTF-8.
    @inline(__always)
    func withUTF8Bytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        withUTF8Span { $0.withUnsafeBytes(body) }
    }
}

/// The members of a comma list (RFC 9110 §5.6.1), trimmed, empty ones included.
package struct ListMembers {
    private let list: UnsafeRawBufferPointer
    private var position = 0
    private var isAtEnd = false

    /// Reads the members of a field's value.
    package init(_ list: UnsafeRawBufferPointer) { self.list = list }

    /// The next member, nil after the last one.
    package mutating func next() -> UnsafeRawBufferPointer? {
        guard !isAtEnd else { return nil }
        let start = position
        var isQuoted = false
        while position < list.count {
            let byte = list[position]
            if byte == ASCII.quote {
                isQuoted.toggle()
            } else if isQuoted, byte == ASCII.backslash {
                position += 1
            } else if !isQuoted, byte == ASCII.comma {
                break
            }
            position += 1
        }
        let member = list.part(start, position).trimmed
        isAtEnd = position >= list.count
        position += 1
        return member
    }
}
