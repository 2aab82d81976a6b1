// Where a body ends. The rules stand below in the order and with the numbers of RFC 9112 §6.3; nothing else in the
// package decides about lengths. It reads heads and knows no connection.

/// How the end of a message's body is found.
package enum BodyFraming: Sendable, Equatable {
    /// There is no body.
    case none
    /// The body has that many bytes.
    case length(Int64)
    /// The body comes in chunks and says itself where it ends.
    case chunked
    /// The body ends with the connection.
    case untilClose
}

/// What a response answers: the head alone does not tell whether a body follows.
package enum ExpectedResponse: Sendable, Equatable {
    /// HEAD: never a body.
    case toHEAD
    /// CONNECT: success turns the connection into a tunnel.
    case toCONNECT
    /// A request with an Upgrade field: 101 hands the connection over.
    case toUpgrade
    /// Any other request.
    case toOther
}

extension BodyFraming {
    /// The framing of a response's body (RFC 9112 §6.3 from the client's side).
    static func ofResponse(
        _ head: ResponseHead, _ fields: FramingFields, to request: ExpectedResponse
    ) throws(WireError) -> BodyFraming {
        // Rule 1: no body whatever the fields say (B16.30).
        if request == .toHEAD || head.isInformational || head.status == 204 || head.status == 304 { return .none }
        // Rule 2: success turns a CONNECT's connection into a tunnel; fields about length are ignored.
        if request == .toCONNECT, head.status < 300 { return .none }

        switch fields.transferEncoding {
        // Rules 3 and 4: Transfer-Encoding overrides Content-Length (B16.31, B16.32, B16.48).
        case .endsInChunked: return .chunked
        case .endsOtherwise: return .untilClose
        case .unknown: throw .unknownTransferCoding
        case .absent: break
        }
        switch fields.contentLength {
        // Rule 5: an invalid length cannot be recovered from (B16.34, B16.35).
        case .malformed: throw .malformedContentLength
        case .conflicting: throw .conflictingContentLengths
        // Rule 6.
        case .bytes(let count): return .length(count)
        // Rule 8; rule 7 is about requests (B16.36).
        case .absent: return .untilClose
        }
    }

    /// The framing of a request's body (RFC 9112 §6.3 from the server's side).
    package static func ofRequest(_ head: RequestHead) throws(WireError) -> BodyFraming {
        let fields = FramingFields(head.fields)
        switch fields.transferEncoding {
        // Rules 3 and 4: both lengths at once, a coding before HTTP/1.1, or an end that cannot be found are what
        // request smuggling is made of. A server refuses them.
        case .endsInChunked:
            guard fields.contentLength == .absent, head.version.persistsByDefault else {
                throw .ambiguousRequestFraming
            }
            return .chunked
        case .endsOtherwise: throw .ambiguousRequestFraming
        case .unknown: throw .unknownTransferCoding
        case .absent: break
        }
        switch fields.contentLength {
        // Rule 5.
        case .malformed: throw .malformedContentLength
        case .conflicting: throw .conflictingContentLengths
        // Rule 6.
        case .bytes(let count): return .length(count)
        // Rule 7.
        case .absent: return .none
        }
    }
}
