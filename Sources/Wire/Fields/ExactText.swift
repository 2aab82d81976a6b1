// Texts that are told apart by their bytes. Swift's `==` takes texts for equal that Unicode calls canonically
// equivalent, such as an "é" of one character and of two: to a server, a file system or a cache these are two.

/// A text as a key: it equals those of the same bytes alone.
package struct ExactText: Sendable, Hashable {
    /// The text.
    package let text: String

    /// Makes a key of a text.
    package init(_ text: String) { self.text = text }

    // The hash of the text will do: equal bytes have one hash.
    package static func == (left: ExactText, right: ExactText) -> Bool { left.text.hasSameBytes(as: right.text) }
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
