// Unicode scalars out of bytes in UTF-8 as they come (Unicode 3.9, table 3-7).

/// The Unicode scalars of a sequence of bytes in UTF-8. Each longest run of bytes that begins like a scalar and is none
/// becomes one U+FFFD.
public struct AsyncUnicodeScalarSequence<Base: AsyncSequence>: AsyncSequence where Base.Element == UInt8 {
    /// A scalar.
    public typealias Element = Unicode.Scalar
    /// What reading the bytes throws.
    public typealias Failure = Base.Failure

    @usableFromInline let base: Base

    @inlinable
    init(_ base: Base) {
        self.base = base
    }

    /// Begins to read.
    @inlinable
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(base.makeAsyncIterator())
    }

    /// Reads scalar by scalar.
    public struct AsyncIterator: AsyncIteratorProtocol {
        /// A scalar.
        public typealias Element = Unicode.Scalar
        /// What reading the bytes throws.
        public typealias Failure = Base.Failure

        @usableFromInline var base: Base.AsyncIterator
        /// A byte that was read and did not belong to the scalar before it.
        @usableFromInline var leftover: UInt8?

        @inlinable
        init(_ base: Base.AsyncIterator) {
            self.base = base
        }

        /// The next scalar, or `nil` at the end.
        @inlinable
        public mutating func next() async throws(Base.Failure) -> Unicode.Scalar? {
            try await next(isolation: nil)
        }

        /// The next scalar, or `nil` at the end.
        @inlinable
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(Base.Failure) -> Unicode.Scalar? {
            let first: UInt8
            if let byte = leftover {
                leftover = nil
                first = byte
            } else {
                guard let byte = try await base.next(isolation: actor) else { return nil }
                first = byte
            }
            if first < 0x80 { return Unicode.Scalar(first) }
            guard var form = UTF8Form(lead: first) else { return "\u{FFFD}" }
            while !form.isComplete {
                guard let byte = try await base.next(isolation: actor) else { return "\u{FFFD}" }
                guard form.append(byte) else {
                    leftover = byte
                    return "\u{FFFD}"
                }
            }
            return Unicode.Scalar(form.value) ?? "\u{FFFD}"
        }
    }
}

/// A scalar of several bytes while it comes in.
@usableFromInline
struct UTF8Form {
    @usableFromInline private(set) var value: UInt32
    private var missing: Int
    /// What the next byte may be: the first continuation byte is restricted after some lead bytes.
    private var allowed: ClosedRange<UInt8> = 0x80...0xBF

    /// `nil` for a byte that begins no scalar.
    @usableFromInline
    init?(lead: UInt8) {
        switch lead {
        case 0xC2...0xDF: (value, missing) = (UInt32(lead & 0x1F), 1)
        case 0xE0...0xEF: (value, missing) = (UInt32(lead & 0x0F), 2)
        case 0xF0...0xF4: (value, missing) = (UInt32(lead & 0x07), 3)
        default: return nil
        }
        switch lead {
        case 0xE0: allowed = 0xA0...0xBF
        case 0xED: allowed = 0x80...0x9F
        case 0xF0: allowed = 0x90...0xBF
        case 0xF4: allowed = 0x80...0x8F
        default: break
        }
    }

    @usableFromInline var isComplete: Bool { missing == 0 }

    /// Takes the next byte; `false` if it cannot follow.
    @usableFromInline
    mutating func append(_ byte: UInt8) -> Bool {
        guard allowed.contains(byte) else { return false }
        value = value << 6 | UInt32(byte & 0x3F)
        allowed = 0x80...0xBF
        missing -= 1
        return true
    }
}

extension AsyncUnicodeScalarSequence: Sendable where Base: Sendable {}
extension AsyncUnicodeScalarSequence.AsyncIterator: Sendable where Base.AsyncIterator: Sendable {}

extension AsyncSequence where Element == UInt8 {
    /// The Unicode scalars of a text in UTF-8.
    @inlinable
    public var unicodeScalars: AsyncUnicodeScalarSequence<Self> { AsyncUnicodeScalarSequence(self) }
}
