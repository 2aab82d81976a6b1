// Texts that are told apart by their bytes. Swift's `==` takes texts for equal that Unicode calls canonically
// equivalent, such as an "é" of one character and of two: to a server, a file system or a cache these are two.

/// A text as a key: it equals those of the same bytes alone.
package struct ExactText: Sendable, Hashable {
    /// The text.
    package let text: String

    /// Makes a key of a text.
    package init(_ text: String) { self.text = text }

    package static func == (left: ExactText, right: ExactText) -> Bool { left.text.hasSameBytes(as: right.text) }

    /// Hashes the bytes.
    package func hash(into hasher: inout Hasher) { hasher.combine(bytesOf: text) }
}

extension Hasher {
    /// Takes in a text by its bytes. By itself a text has one hash in all of its forms, of which there are millions
    /// of a few dozen letters with accents: as keys they would all lie in one place, and be compared one by one.
    package mutating func combine(bytesOf text: String) {
        var text = text
        text.withUTF8 { combine(bytes: UnsafeRawBufferPointer($0)) }
        // No text has this byte: it tells where one ends and the next begins.
        combine(0xFF as UInt8)
    }
}

extension String {
    /// Whether both are the same, byte for byte.
    package func hasSameBytes(as other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
    }
}

extension String? {
    /// Whether both are the same, byte for byte, or both are missing.
    package func hasSameBytes(as other: String?) -> Bool {
        guard let self, let other else { return self == nil && other == nil }
        return self.hasSameBytes(as: other)
    }
}
