// Everything that can be wrong with a compressed header block, one case a reason. Whatever it is, the two tables are no
// longer known to agree, so the connection ends, not only a stream. Cases carry numbers, never bytes of the peer.
// RFC 7541, RFC 9113 §4.3.

/// Why a header block could not be decoded.
package enum HPACKError: Error, Sendable, Equatable {
    // The block follows no grammar.

    /// Index 0, or one beyond both tables (RFC 7541 §2.3.3).
    case indexOutOfRange
    /// An integer above 2^31, or in more than five bytes behind its prefix (RFC 7541 §5.1).
    case integerTooLarge
    /// A Huffman code with the symbol that stands for no byte (RFC 7541 §5.2).
    case endOfStringSymbol
    /// A Huffman code that ends in more than seven bits, or in others than ones (RFC 7541 §5.2).
    case malformedPadding
    /// A table larger than allowed (RFC 7541 §6.3).
    case tableSizeTooLarge(limit: Int)
    /// A change of the table's size behind a field (RFC 7541 §4.2).
    case lateTableSizeUpdate
    /// No change of the table's size although less is allowed now (RFC 7541 §4.2).
    case missingTableSizeUpdate
    /// The block ends in the middle of a field.
    case truncatedBlock

    // The block follows the grammar, and is more than is borne.

    /// `HPACKLimits.blockBytes` exceeded (H9.5).
    case blockTooLarge(limit: Int)
    /// `HPACKLimits.hardListBytes` exceeded (H9.5).
    case listTooLarge(limit: Int)

    /// Whether a budget was exceeded: ENHANCE_YOUR_CALM, where all else is COMPRESSION_ERROR.
    package var isExcess: Bool {
        switch self {
        case .indexOutOfRange, .integerTooLarge, .endOfStringSymbol, .malformedPadding, .tableSizeTooLarge,
            .lateTableSizeUpdate, .missingTableSizeUpdate, .truncatedBlock:
            false
        case .blockTooLarge, .listTooLarge: true
        }
    }
}

extension HPACKError: CustomStringConvertible {
    /// One sentence a person can act on.
    package var description: String {
        switch self {
        case .indexOutOfRange: "A header block refers to an entry that no table has."
        case .integerTooLarge: "A header block holds a number that is too large."
        case .endOfStringSymbol: "A header block holds a Huffman code that stands for no byte."
        case .malformedPadding: "A header block holds a Huffman code that ends in the middle."
        case .tableSizeTooLarge(let limit): "A header block sets a table size above \(limit) bytes."
        case .lateTableSizeUpdate: "A header block changes the table's size behind its first field."
        case .missingTableSizeUpdate: "A header block does not begin with the smaller table size that it must have."
        case .truncatedBlock: "A header block ends in the middle of a field."
        case .blockTooLarge(let limit): "A header block is larger than \(limit) bytes."
        case .listTooLarge(let limit): "The fields of a header block are larger than \(limit) bytes."
        }
    }
}
