// What a compressed body may come to: what its request says, or else the configuration, or else what is usual where it
// is collected in memory (B16.60, B16.75, B16.76).
//
// Must not know: how bodies are decoded.

import URLLoadingWire

/// What compressed bodies of a session may come to.
struct DecodingRules: Sendable {
    private let bytes: Int64?
    private let ratio: Int64?

    init(_ values: ConfigurationValues) {
        bytes = values.maximumDecodedBytes
        ratio = values.maximumDecodedRatio
    }

    /// The limits of a body; `isCollected` says that all of it is held in memory.
    func limits(of request: URLRequest?, isCollected: Bool) -> DecodingLimits {
        let bytes = request?.values.maximumDecodedBytes ?? self.bytes ?? (isCollected ? Self.usualBytes : nil)
        if let ratio = request?.values.maximumDecodedRatio ?? self.ratio {
            return DecodingLimits(bytes: bytes, ratio: ratio, bytesWithoutRatio: Self.bytesWithoutChosenRatio)
        }
        guard isCollected else { return DecodingLimits(bytes: bytes) }
        return DecodingLimits(bytes: bytes, ratio: Self.usualRatio, bytesWithoutRatio: Self.bytesWithoutUsualRatio)
    }

    /// Picked by feel: no page and no answer of an interface is so long, and what is belongs into a file.
    private static let usualBytes: Int64 = 1 << 30

    /// Text comes to five or twenty times its compressed form, the most regular tables to a hundred times. What is
    /// made to fill memory comes to a thousand times (the most that deflate can do) or, with newer codings, to ten
    /// thousand times and more.
    private static let usualRatio: Int64 = 200

    /// A page of one colour, or a table of zeros, may be anything so far.
    private static let bytesWithoutUsualRatio: Int64 = 64 << 20

    /// Below this a ratio says nothing, and no memory is in danger.
    private static let bytesWithoutChosenRatio: Int64 = 1 << 20
}
