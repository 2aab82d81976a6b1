// The content of one response on its way to the receiver: content coding undone (B16.49 to B16.62), in bounded
// pieces, and kept when the receiver is full in the middle of one, or has still to say whether it wants any.

import URLLoadingWire

/// Undoes a response's content coding piece by piece.
final class ResponseBody {
    // `@exclusivity(unchecked)`: as in `Transaction`.

    // Nil where there is nothing to undo, and the object is there for what is said about the body.
    @exclusivity(unchecked) private var decoder: ContentDecoder?
    // Bytes as they came, that wait for the receiver; at most one read's worth, unless all are held.
    @exclusivity(unchecked) private var held: [UInt8] = []
    // The decoder may have more output without more input.
    @exclusivity(unchecked) private var hasMoreOutput = false
    private let limits: DecodingLimits
    // What has been read and written of the body, by which it is measured.
    @exclusivity(unchecked) private var coded: Int64 = 0
    @exclusivity(unchecked) private var decoded: Int64 = 0
    /// Nothing goes on: the receiver has still to say what becomes of it.
    @exclusivity(unchecked) var holdsAll = false
    /// The receiver waits only briefly for the end of it.
    @exclusivity(unchecked) var isBrief = false
    /// With what the exchange has broken off meanwhile.
    @exclusivity(unchecked) var loss: EngineError?

    /// There is nothing to undo.
    init() {
        decoder = nil
        limits = DecodingLimits()
    }

    private init(_ decoder: consuming ContentDecoder?, limits: DecodingLimits) {
        self.decoder = decoder
        self.limits = limits
    }

    /// Nil where there is nothing to undo: what the receiver sees is what the server sent (B5.57).
    ///
    /// `limits` is asked where there is something to undo, which is rare. Measured: an initializer that fails has made
    /// its object before.
    static func make(
        for head: borrowing ResponseHead, framing: BodyFraming, decodes: Bool,
        limits: @autoclosure () -> DecodingLimits
    ) -> ResponseBody? {
        guard framing != .none, let decoder = ContentDecoder.make(for: head, decodesContent: decodes) else {
            return nil
        }
        return ResponseBody(decoder, limits: limits())
    }

    /// Whether bytes wait for the receiver.
    var hasHeld: Bool { !holdsAll && (hasMoreOutput || !held.isEmpty) }

    /// Whether something is undone, so that the receiver gets other bytes than the server has sent.
    var isCoded: Bool { decoder != nil }

    /// Whether more is held than is worth its memory.
    var holdsMuch: Bool { held.count > Self.mostHeld }

    /// Passes bytes on, decoded; what the receiver cannot take is held.
    func take(
        _ bytes: UnsafeRawBufferPointer, buffers: BodyBuffers,
        to sink: (UnsafeRawBufferPointer) -> ReceiverDemand
    ) throws(WireError) {
        if holdsAll { return held.append(contentsOf: bytes) }
        var offset = 0
        var delivered = 0
        while true {
            let buffer = buffers.space(atLeast: Self.leastRoom)
            let start = offset
            guard let produced = try decoder?.decode(bytes.bytes, offset: &offset, into: buffer) else {
                _ = sink(bytes)
                return
            }
            hasMoreOutput = decoder?.hasMore == true
            coded += Int64(offset - start)
            decoded += Int64(produced)
            if let fault = limits.fault(decoded: decoded, coded: coded) { throw fault }
            let demand: ReceiverDemand =
                produced == 0 ? .more : sink(UnsafeRawBufferPointer(rebasing: buffer[..<produced]))
            if offset == bytes.count, !hasMoreOutput { return }
            // A decoder that stops before its output is full has done enough for this turn.
            delivered += hasMoreOutput && produced < buffer.count ? Self.mostDeliveredAtOnce : produced
            switch demand {
            case .more where delivered < Self.mostDeliveredAtOnce: continue
            case .more, .pause, .hold, .briefly, .discard, .detach:
                held = Array(bytes[offset...])
                return
            }
        }
    }

    /// Passes on what is held.
    func takeHeld(
        buffers: BodyBuffers, to sink: (UnsafeRawBufferPointer) -> ReceiverDemand
    ) throws(WireError) {
        let bytes = held
        held = []
        hasMoreOutput = false
        let result: Result<Void, WireError> = bytes.withUnsafeBytes { raw in
            do throws(WireError) {
                return .success(try take(raw, buffers: buffers, to: sink))
            } catch {
                return .failure(error)
            }
        }
        try result.get()
    }

    /// Picked by feel: room for less would make small pieces of large ones.
    private static let leastRoom = 128 * 1024

    /// Picked by feel: a millisecond's work or so, after which the loop's other transfers have their turn.
    private static let mostDeliveredAtOnce = 1024 * 1024

    /// Picked by feel: the page behind a refusal or a redirect is smaller.
    private static let mostHeld = 64 * 1024

    /// The body is over; throws when its coding is not.
    func finish() throws(WireError) {
        try decoder?.finish()
    }
}
