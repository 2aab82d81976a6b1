// Text, line by line, out of bytes as they come.

/// The lines of a sequence of bytes in UTF-8, without what ends them: LF, CR, CRLF, VT, FF, NEL, LS or PS.
///
/// Empty lines are left out, as on Apple's platforms; `lines(keepingEmpty:)` gives them too. Bytes that are not UTF-8
/// become U+FFFD. A line is given out as soon as its end has come, without waiting for a byte after it.
public struct AsyncLineSequence<Base: AsyncSequence>: AsyncSequence where Base.Element == UInt8 {
    /// A line.
    public typealias Element = String
    /// What reading the bytes throws.
    public typealias Failure = Base.Failure

    @usableFromInline let base: Base
    @usableFromInline let keepsEmpty: Bool

    @inlinable
    init(_ base: Base, keepsEmpty: Bool) {
        self.base = base
        self.keepsEmpty = keepsEmpty
    }

    /// Begins to read.
    @inlinable
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(base.makeAsyncIterator(), keepsEmpty: keepsEmpty)
    }

    /// Reads line by line.
    public struct AsyncIterator: AsyncIteratorProtocol {
        /// A line.
        public typealias Element = String
        /// What reading the bytes throws.
        public typealias Failure = Base.Failure

        @usableFromInline var base: Base.AsyncIterator
        @usableFromInline let keepsEmpty: Bool
        @usableFromInline var line: [UInt8] = []
        /// The last byte was a CR: an LF that follows belongs to it.
        @usableFromInline var isAfterCR = false
        @usableFromInline var hasEnded = false

        @inlinable
        init(_ base: Base.AsyncIterator, keepsEmpty: Bool) {
            self.base = base
            self.keepsEmpty = keepsEmpty
        }

        /// The next line, or `nil` at the end.
        @inlinable
        public mutating func next() async throws(Base.Failure) -> String? {
            try await next(isolation: nil)
        }

        /// The next line, or `nil` at the end.
        @inlinable
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(Base.Failure) -> String? {
            if hasEnded { return nil }
            // Order: before a byte is asked for, since an error ends the lines, too. What came of a line
            // before the error is no line.
            hasEnded = true
            while let byte = try await base.next(isolation: actor) {
                guard Self.mayEndLine(byte) else {
                    line.append(byte)
                    isAfterCR = false
                    continue
                }
                if let end = take(byte) {
                    hasEnded = false
                    return end
                }
            }
            return line.isEmpty ? nil : cut()
        }

        /// Whether a byte is one of those with which an end of line ends.
        @inlinable @inline(__always)
        static func mayEndLine(_ byte: UInt8) -> Bool {
            (0x0A...0x0D).contains(byte) || byte == 0x85 || byte == 0xA8 || byte == 0xA9
        }

        /// Takes such a byte; the line that it ends, if it does.
        @usableFromInline
        mutating func take(_ byte: UInt8) -> String? {
            let followsCR = isAfterCR
            isAfterCR = byte == 0x0D
            switch byte {
            case 0x0A where followsCR:
                return nil
            case 0x0A...0x0D:
                break
            // NEL is C2 85, LS and PS are E2 80 A8 and E2 80 A9.
            case 0x85 where line.last == 0xC2:
                line.removeLast()
            case 0xA8 where line.suffix(2) == [0xE2, 0x80], 0xA9 where line.suffix(2) == [0xE2, 0x80]:
                line.removeLast(2)
            default:
                line.append(byte)
                return nil
            }
            return line.isEmpty && !keepsEmpty ? nil : cut()
        }

        @usableFromInline
        mutating func cut() -> String {
            defer { line.removeAll(keepingCapacity: true) }
            return String(decoding: line, as: UTF8.self)
        }
    }
}

extension AsyncLineSequence: Sendable where Base: Sendable {}
extension AsyncLineSequence.AsyncIterator: Sendable where Base.AsyncIterator: Sendable {}

extension AsyncSequence where Element == UInt8 {
    /// The lines of a text in UTF-8; empty ones are left out.
    @inlinable
    public var lines: AsyncLineSequence<Self> { AsyncLineSequence(self, keepsEmpty: false) }
}
