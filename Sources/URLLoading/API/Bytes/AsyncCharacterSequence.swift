// Characters out of bytes in UTF-8 as they come.

/// The characters of a sequence of bytes in UTF-8. A character is given out once the scalar after it has come, since
/// only that tells where it ends.
public struct AsyncCharacterSequence<Base: AsyncSequence>: AsyncSequence where Base.Element == UInt8 {
    /// A character.
    public typealias Element = Character
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
        AsyncIterator(AsyncUnicodeScalarSequence(base).makeAsyncIterator())
    }

    /// Reads character by character.
    public struct AsyncIterator: AsyncIteratorProtocol {
        /// A character.
        public typealias Element = Character
        /// What reading the bytes throws.
        public typealias Failure = Base.Failure

        @usableFromInline var scalars: AsyncUnicodeScalarSequence<Base>.AsyncIterator
        /// The scalars of the next character, as far as they have come.
        @usableFromInline var begun = ""
        /// Tells by each scalar once where a character ends. A string can tell only by reading all of `begun` again,
        /// which for a character of a mebibyte, as a server may send it, takes half an hour.
        @usableFromInline var recognizer = Unicode._CharacterRecognizer()
        @usableFromInline var hasEnded = false

        @inlinable
        init(_ scalars: AsyncUnicodeScalarSequence<Base>.AsyncIterator) {
            self.scalars = scalars
        }

        /// The next character, or `nil` at the end.
        @inlinable
        public mutating func next() async throws(Base.Failure) -> Character? {
            try await next(isolation: nil)
        }

        /// The next character, or `nil` at the end.
        @inlinable
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(Base.Failure) -> Character? {
            if hasEnded { return nil }
            // Order: before a scalar is asked for, since an error ends the characters, too.
            hasEnded = true
            while let scalar = try await scalars.next(isolation: actor) {
                if let character = take(scalar) {
                    hasEnded = false
                    return character
                }
            }
            return begun.isEmpty ? nil : begun.removeFirst()
        }

        /// Takes the next scalar; the character that ended before it, if one did.
        @usableFromInline
        mutating func take(_ scalar: Unicode.Scalar) -> Character? {
            // There is a break before the very first one, too.
            let ended = recognizer.hasBreak(before: scalar) ? begun.first : nil
            if ended != nil { begun = "" }
            begun.unicodeScalars.append(scalar)
            return ended
        }
    }
}

extension AsyncCharacterSequence: Sendable where Base: Sendable {}
extension AsyncCharacterSequence.AsyncIterator: Sendable where Base.AsyncIterator: Sendable {}

extension AsyncSequence where Element == UInt8 {
    /// The characters of a text in UTF-8.
    @inlinable
    public var characters: AsyncCharacterSequence<Self> { AsyncCharacterSequence(self) }
}
