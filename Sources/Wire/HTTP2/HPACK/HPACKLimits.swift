// How much a header block may hold before its fields are dropped, and how much before its connection is. The numbers
// are H9.5: far above what servers send, and little enough to be borne by a thousand connections at once.

/// The budgets of a decoder of header blocks.
///
/// A list's bytes are counted as RFC 9113 §6.5.2 does: name, value and 32 for each field.
package struct HPACKLimits: Sendable, Equatable {
    /// Bytes of a list up to which its fields are kept; above it `HeaderList.isTooLarge` (H4.9).
    package var listBytes: Int
    /// Bytes of a list above which the connection ends: `HPACKError.listTooLarge`.
    package var hardListBytes: Int
    /// Bytes of a block as it was sent above which the connection ends: `HPACKError.blockTooLarge`.
    package var blockBytes: Int

    /// Makes budgets; each has its standard value.
    package init(listBytes: Int = 256 * 1024, hardListBytes: Int = 1 << 20, blockBytes: Int = 1 << 20) {
        self.listBytes = listBytes
        self.hardListBytes = hardListBytes
        self.blockBytes = blockBytes
    }

    /// The budgets of H9.5.
    package static var standard: HPACKLimits { HPACKLimits() }
}
