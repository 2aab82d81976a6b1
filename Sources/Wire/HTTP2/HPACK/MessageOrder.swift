// Which header block of a message is which, and whether its data are as long as it said. One for each stream and
// direction; it keeps a few words and no bytes. RFC 9113 §8.1, §8.1.1; H4.2, H4.3, H4.4, H4.6, H4.7.

/// The course of one message that is received.
package struct MessageOrder: Sendable {
    /// What a header block of a response was.
    package enum Block: Sendable, Equatable {
        /// A 1xx response; the final one is still to come.
        case informational(ResponseHead)
        /// The final response's head and how its body ends: by a length that it says, or with the stream.
        case head(ResponseHead, BodyFraming)
        /// Trailers, which end the stream.
        case trailers(Fields)
    }

    private enum Phase {
        case head
        case body
        case over
    }

    private var phase = Phase.head
    private var informationalCount = 0
    private var received: Int64 = 0
    private var announced: Int64?

    /// Begins with a message of which nothing has come.
    package init() {}

    /// Whether the final head has come.
    package var hasHead: Bool { phase != .head }

    // MARK: Events

    /// A header block of a response has ended.
    package mutating func responseBlock(
        _ list: HeaderList, to request: ExpectedResponse, endsStream: Bool, byteCount: Int = 0
    ) throws(HeaderFault) -> Block {
        guard phase == .head else { return .trailers(try trailers(list, endsStream: endsStream)) }
        let head = try HeaderBlockRules.responseHead(list, byteCount: byteCount)
        guard !head.isInformational else {
            if head.status == 101 { throw .switchingProtocols }
            if endsStream { throw .endsWithInformational }
            informationalCount += 1
            guard informationalCount <= MessageOrder.mostInformational else {
                throw .tooManyInformationalResponses(limit: MessageOrder.mostInformational)
            }
            return .informational(head)
        }
        let length = try HeaderBlockRules.contentLength(head.fields)
        // H4.3: what these say about a length is about another answer.
        let isBodiless = request == .toHEAD || head.status == 204 || head.status == 304
        try began(announced: isBodiless ? 0 : length, endsStream: endsStream)
        if isBodiless || endsStream { return .head(head, .none) }
        return .head(head, length.map { .length($0) } ?? .untilClose)
    }

    /// The header block of a request has ended; how its body ends.
    package mutating func requestBlock(
        _ list: HeaderList, endsStream: Bool
    ) throws(HeaderFault) -> (HeaderBlockRules.Request, BodyFraming) {
        guard phase == .head else { throw .misplacedFields }
        let request = try HeaderBlockRules.requestHead(list)
        let length = try HeaderBlockRules.contentLength(request.head.fields)
        try began(announced: length, endsStream: endsStream)
        return (request, endsStream ? .none : length.map { .length($0) } ?? .untilClose)
    }

    /// The header block behind a body has ended.
    package mutating func trailers(_ list: HeaderList, endsStream: Bool) throws(HeaderFault) -> Fields {
        guard phase == .body else { throw .misplacedFields }
        guard endsStream else { throw .trailersWithoutEnd }
        let fields = try HeaderBlockRules.trailers(list)
        try end()
        return fields
    }

    /// So many bytes of the body have come, padding not counted.
    package mutating func data(_ count: Int, endsStream: Bool) throws(HeaderFault) {
        guard phase == .body else { throw .misplacedData }
        received += Int64(count)
        if let announced, received > announced { throw .lengthMismatch(received: received, announced: announced) }
        if endsStream { try end() }
    }

    // MARK: Steps

    private mutating func began(announced: Int64?, endsStream: Bool) throws(HeaderFault) {
        self.announced = announced
        phase = .body
        if endsStream { try end() }
    }

    private mutating func end() throws(HeaderFault) {
        phase = .over
        guard let announced, received != announced else { return }
        throw .lengthMismatch(received: received, announced: announced)
    }

    /// H9.6.
    private static var mostInformational: Int { 32 }
}
