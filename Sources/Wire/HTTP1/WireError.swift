// Everything that can be wrong with bytes, one case a reason. Cases carry numbers, never bytes of the peer: a field
// value may be a secret. `kind` is what the layers above map to a public error (B17.16, B17.23, B17.27, B17.29).

/// Why bytes could not be read as a message, or a message could not be written as bytes.
package enum WireError: Error, Sendable, Equatable {
    // What the peer sent is no HTTP/1.1 message.

    /// The answer does not start with `HTTP/` (B16.18).
    case notHTTP
    /// The answer begins as an alert of TLS does (B16.18): the server expects TLS.
    case alertOfTLS
    /// The major version is not 1 (B16.17).
    case unsupportedVersion
    /// A status line that follows no grammar (B16.16, B16.19).
    case malformedStatusLine
    /// A code below 100 (B16.20).
    case statusCodeOutOfRange
    /// A request line that follows no grammar.
    case malformedRequestLine
    /// A CR that ends no line (B16.22).
    case bareCarriageReturn
    /// A NUL byte in a head (B16.26).
    case nulByte
    /// A field line that is a name and nothing else (B16.25).
    case missingColon
    /// A field name that is no token (B16.25).
    case malformedFieldName
    /// White space between name and colon (B16.23).
    case whitespaceBeforeColon
    /// A continuation line before any field (B16.24).
    case foldBeforeFirstField
    /// `WireLimits.lineBytes` exceeded (B16.27).
    case lineTooLong(limit: Int)
    /// `WireLimits.headBytes` exceeded (B16.27).
    case headTooLarge(limit: Int)
    /// `WireLimits.fieldCount` exceeded (B16.27).
    case tooManyFields(limit: Int)
    /// `WireLimits.trailerBytes` exceeded (B16.46).
    case trailersTooLarge(limit: Int)
    /// A length that is no number of 63 bits (B16.34, B16.35).
    case malformedContentLength
    /// Lengths that contradict each other (B16.34).
    case conflictingContentLengths
    /// A request whose end two readers may see in two places (RFC 9112 §6.3).
    case ambiguousRequestFraming
    /// A chunk-size line that follows no grammar (B16.42 to B16.44).
    case malformedChunkSize
    /// A chunk size above 63 bits (B16.42).
    case chunkSizeOverflow
    /// `WireLimits.chunkLineBytes` exceeded (B16.43).
    case chunkLineTooLong(limit: Int)
    /// Chunk data without a line end behind it (B16.45).
    case missingChunkTerminator

    // The peer went away in the middle, or spoke out of turn.

    /// Closed before any byte of the response (B16.41).
    case closedBeforeResponse
    /// Closed inside the head (B16.41).
    case closedInHead
    /// Closed before Content-Length was satisfied (B16.37).
    case closedInBody(received: Int64, expected: Int64)
    /// Closed before the last chunk, or before the end of the trailers (B16.38).
    case closedInChunked(received: Int64)
    /// Bytes on a connection where no request is unanswered (B16.9).
    case bytesWithoutRequest

    // A well-formed response that cannot be accepted.

    /// A transfer coding that is not known (B16.32).
    case unknownTransferCoding
    /// `WireLimits.informationalCount` exceeded (B11.20).
    case tooManyInformationalResponses(limit: Int)
    /// 101 without an Upgrade (B16.63).
    case unexpectedSwitchOfProtocols

    // A coding that was announced cannot be undone.

    /// Compressed data that is none (B16.55).
    case corruptContent
    /// Compressed data that stops in the middle (B16.55).
    case truncatedContent
    /// The checksum behind the data is another (B16.56).
    case contentChecksumMismatch
    /// The length behind the data is another (B16.56).
    case contentLengthMismatch
    /// A window above the 8 MiB that this coding may need (RFC 9659).
    case contentWindowTooLarge
    /// Data that only a dictionary makes sense of, and none was agreed on.
    case contentNeedsDictionary
    /// More codings on top of each other than are undone (B16.53).
    case tooManyCodings(limit: Int)
    /// The coding's library got no memory.
    case decoderOutOfMemory
    /// The content is longer than is taken (B16.60).
    case decodedTooLong(reached: Int64, limit: Int64)
    /// The content is longer than is taken for so many coded bytes (B16.75).
    case decodedTooMuch(reached: Int64, coded: Int64, ratio: Int64)

    // What the caller wants to send may not be sent.

    /// A method that is no token.
    case unsendableMethod
    /// A request target with bytes other than visible ASCII, or none.
    case unsendableTarget
    /// A field name that is no token.
    case unsendableFieldName
    /// A field value with a control byte.
    case unsendableFieldValue
    /// A status code of other than three digits.
    case unsendableStatus
    /// A reason phrase with a control byte.
    case unsendableReason
    /// A framing that a request cannot have.
    case unsendableFraming
}

extension WireError {
    /// What a reason means for the sender of the request.
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

    /// What this reason means for the sender of the request.
    package var kind: Kind {
        switch self {
        case .notHTTP, .alertOfTLS, .unsupportedVersion, .malformedStatusLine, .statusCodeOutOfRange,
            .malformedRequestLine, .bareCarriageReturn, .nulByte, .missingColon, .malformedFieldName,
            .whitespaceBeforeColon, .foldBeforeFirstField, .lineTooLong, .headTooLarge, .tooManyFields,
            .trailersTooLarge, .malformedContentLength, .conflictingContentLengths, .ambiguousRequestFraming,
            .malformedChunkSize, .chunkSizeOverflow, .chunkLineTooLong, .missingChunkTerminator:
            .malformedResponse
        case .closedBeforeResponse, .closedInHead, .closedInBody, .closedInChunked, .bytesWithoutRequest:
            .truncated
        case .unknownTransferCoding, .tooManyInformationalResponses, .unexpectedSwitchOfProtocols:
            .badResponse
        case .corruptContent, .truncatedContent, .contentChecksumMismatch, .contentLengthMismatch,
            .contentWindowTooLarge, .contentNeedsDictionary, .tooManyCodings, .decoderOutOfMemory, .decodedTooLong,
            .decodedTooMuch:
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
        case .alertOfTLS: "The server answers in TLS, as those of https URLs do."
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
        case .lineTooLong(let limit): "A line of the head is longer than \(limit) bytes, its end included."
        case .headTooLarge(let limit): "The head is larger than \(limit) bytes."
        case .tooManyFields(let limit): "There are more than \(limit) fields."
        case .trailersTooLarge(let limit): "The trailer section is larger than \(limit) bytes."
        case .malformedContentLength: "Content-Length is not a number."
        case .conflictingContentLengths: "Several Content-Length values contradict each other."
        case .ambiguousRequestFraming: "The request's length is ambiguous or cannot be told."
        case .malformedChunkSize: "A chunk-size line is malformed."
        case .chunkSizeOverflow: "A chunk size is larger than 63 bits hold."
        case .chunkLineTooLong(let limit): "A chunk-size line is longer than \(limit) bytes, its end included."
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
        case .contentWindowTooLarge: "The compressed body needs a window of more than 8 MiB."
        case .contentNeedsDictionary: "The compressed body needs a dictionary."
        case .tooManyCodings(let limit): "The body has more than \(limit) codings on top of each other."
        case .decoderOutOfMemory: "There is no memory to decompress the body."
        case .decodedTooLong(let reached, let limit):
            "The compressed body has come to \(reached) bytes, and at most \(limit) are taken."
        case .decodedTooMuch(let reached, let coded, let ratio):
            "The compressed body has come to \(reached) bytes from \(coded), and at most \(ratio) are taken for each."
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
