// Everything that can be wrong with bytes, one case a reason. Cases carry numbers, never bytes of the peer: a field
// value may be a secret. `kind` is what the layers above map to a public error (B17.16, B17.23, B17.27, B17.29).

/// Why bytes could not be read as a message, or a message could not be written as bytes.
package enum WireError: Error, Sendable, Equatable {
    // What the peer sent is no HTTP/1.1 message.
    case notHTTP
    case unsupportedVersion
    case malformedStatusLine
    case statusCodeOutOfRange
    case malformedRequestLine
    case bareCarriageReturn
    case nulByte
    case missingColon
    case malformedFieldName
    case whitespaceBeforeColon
    case foldBeforeFirstField
    case lineTooLong(limit: Int)
    case headTooLarge(limit: Int)
    case tooManyFields(limit: Int)
    case trailersTooLarge(limit: Int)
    case malformedContentLength
    case conflictingContentLengths
    case ambiguousRequestFraming
    case malformedChunkSize
    case chunkSizeOverflow
    case chunkLineTooLong(limit: Int)
    case missingChunkTerminator

    // The peer went away in the middle, or spoke out of turn.
    case closedBeforeResponse
    case closedInHead
    case closedInBody(received: Int64, expected: Int64)
    case closedInChunked(received: Int64)
    case bytesWithoutRequest

    // A well-formed response that cannot be accepted.
    case unknownTransferCoding
    case tooManyInformationalResponses(limit: Int)
    case unexpectedSwitchOfProtocols

    // A coding that was announced cannot be undone.
    case corruptContent
    case truncatedContent
    case contentChecksumMismatch
    case contentLengthMismatch
    case decoderOutOfMemory

    // What the caller wants to send may not be sent.
    case unsendableMethod
    case unsendableTarget
    case unsendableFieldName
    case unsendableFieldValue
    case unsendableStatus
    case unsendableReason
    case unsendableFraming
}

extension WireError {
    /// What a reason means for the one who asked.
    package enum Kind: Sendable, Equatable {
        /// Bytes that are no message: cannotParseResponse.
        case malformedResponse
        /// The connection ended, or was used, at the wrong moment: networkConnectionLost.
        case truncated
        /// A message that makes no sense: badServerResponse.
        case badResponse
        /// A content coding that cannot be undone: cannotDecodeRawData.
        case undecodableContent
        /// The caller's own mistake; nothing was sent.
        case invalidRequest
    }

    /// What the reason means for the one who asked.
    package var kind: Kind {
        switch self {
        case .notHTTP, .unsupportedVersion, .malformedStatusLine, .statusCodeOutOfRange, .malformedRequestLine,
            .bareCarriageReturn, .nulByte, .missingColon, .malformedFieldName, .whitespaceBeforeColon,
            .foldBeforeFirstField, .lineTooLong, .headTooLarge, .tooManyFields, .trailersTooLarge,
            .malformedContentLength, .conflictingContentLengths, .ambiguousRequestFraming, .malformedChunkSize,
            .chunkSizeOverflow, .chunkLineTooLong, .missingChunkTerminator:
            .malformedResponse
        case .closedBeforeResponse, .closedInHead, .closedInBody, .closedInChunked, .bytesWithoutRequest:
            .truncated
        case .unknownTransferCoding, .tooManyInformationalResponses, .unexpectedSwitchOfProtocols:
            .badResponse
        case .corruptContent, .truncatedContent, .contentChecksumMismatch, .contentLengthMismatch,
            .decoderOutOfMemory:
            .undecodableContent
        case .unsendableMethod, .unsendableTarget, .unsendableFieldName, .unsendableFieldValue, .unsendableStatus,
            .unsendableReason, .unsendableFraming:
            .invalidRequest
        }
    }
}

extension WireError: CustomStringConvertible {
    /// One sentence a person can act on.
    package var description: String {
        switch self {
        case .notHTTP: "The server's answer does not start with HTTP/."
        case .unsupportedVersion: "The message is of an HTTP version other than 1.x."
        case .malformedStatusLine: "The status line is malformed."
        case .statusCodeOutOfRange: "The status code is below 100."
        case .malformedRequestLine: "The request line is malformed."
        case .bareCarriageReturn: "A line of the head holds a carriage return that does not end it."
        case .nulByte: "A line of the head holds a NUL byte."
        case .missingColon: "A field line has no colon."
        case .malformedFieldName: "A field name is empty or holds a byte that no name may hold."
        case .whitespaceBeforeColon: "A field line has white space between name and colon."
        case .foldBeforeFirstField: "The head starts with a continuation line that continues nothing."
        case .lineTooLong(let limit): "A line of the head is longer than \(limit) bytes."
        case .headTooLarge(let limit): "The head is larger than \(limit) bytes."
        case .tooManyFields(let limit): "There are more than \(limit) fields."
        case .trailersTooLarge(let limit): "The trailer section is larger than \(limit) bytes."
        case .malformedContentLength: "Content-Length is not a number."
        case .conflictingContentLengths: "Several Content-Length values contradict each other."
        case .ambiguousRequestFraming: "The request's length is ambiguous or cannot be told."
        case .malformedChunkSize: "A chunk-size line is malformed."
        case .chunkSizeOverflow: "A chunk size is larger than 63 bits hold."
        case .chunkLineTooLong(let limit): "A chunk-size line is longer than \(limit) bytes."
        case .missingChunkTerminator: "A chunk's data is not followed by a line end."
        case .closedBeforeResponse: "The peer closed the connection without a response."
        case .closedInHead: "The peer closed the connection inside the head."
        case .closedInBody(let received, let expected):
            "The peer closed the connection after \(received) of \(expected) body bytes."
        case .closedInChunked(let received):
            "The peer closed the connection after \(received) body bytes, before the last chunk."
        case .bytesWithoutRequest: "The peer sent bytes that no request asked for."
        case .unknownTransferCoding: "The response has a transfer coding that is not known."
        case .tooManyInformationalResponses(let limit): "There were more than \(limit) informational responses."
        case .unexpectedSwitchOfProtocols: "The server switched protocols without having been asked to."
        case .corruptContent: "The compressed body is corrupt."
        case .truncatedContent: "The compressed body is incomplete."
        case .contentChecksumMismatch: "The checksum of the decompressed body is wrong."
        case .contentLengthMismatch: "The length of the decompressed body is not the announced one."
        case .decoderOutOfMemory: "There is no memory to decompress the body."
        case .unsendableMethod: "The method is not a token."
        case .unsendableTarget: "The request target is empty or holds a byte that may not be sent."
        case .unsendableFieldName: "A field name is not a token."
        case .unsendableFieldValue: "A field value holds a control byte."
        case .unsendableStatus: "The status code is not between 100 and 999."
        case .unsendableReason: "The reason phrase holds a control byte."
        case .unsendableFraming: "A request's body cannot end with the connection, and no length is negative."
        }
    }
}
