// Everything that can be wrong with the fields of a message whose header block could be decoded, one case a reason: the
// message is malformed, its stream ends with PROTOCOL_ERROR, and the connection lives on. Cases carry numbers, never
// bytes of the peer. RFC 9113 §8.1.1; H4.7, H4.8.

/// Why a message is malformed.
package enum HeaderFault: Error, Sendable, Equatable {
    // The fields.

    /// A name that is empty or holds a byte that no name may hold.
    case malformedFieldName
    /// A name with a letter in upper case.
    case uppercaseFieldName
    /// A value with NUL, CR or LF.
    case malformedFieldValue
    /// A field that is about a connection of HTTP/1.1.
    case connectionSpecificField
    /// Lengths that are no numbers of 63 bits (H4.6).
    case malformedContentLength
    /// Lengths that contradict each other (H4.6).
    case conflictingContentLengths
    /// The fields are more, or larger, than allowed (H4.9).
    case tooLarge

    // The pseudo-header fields.

    /// One that must be there is not.
    case missingPseudoField
    /// One comes twice.
    case repeatedPseudoField
    /// One comes behind an ordinary field.
    case latePseudoField
    /// One that is not defined, or not for this message; any among trailers.
    case unexpectedPseudoField
    /// A `:status` that is not three digits, 100 to 999.
    case malformedStatus
    /// A `:method`, `:scheme`, `:authority` or `:path` that can be none, or a Host that contradicts.
    case malformedTarget

    /// 101, which HTTP/2 does not have (H4.2).
    case switchingProtocols
}

extension HeaderFault {
    /// What the reason means for the sender of the request, as for a message of HTTP/1.1.
    package var kind: WireError.Kind {
        switch self {
        case .malformedFieldName, .uppercaseFieldName, .malformedFieldValue, .connectionSpecificField,
            .malformedContentLength, .conflictingContentLengths, .tooLarge, .missingPseudoField, .repeatedPseudoField,
            .latePseudoField, .unexpectedPseudoField, .malformedStatus, .malformedTarget:
            .malformedResponse
        case .switchingProtocols: .badResponse
        }
    }
}

extension HeaderFault: CustomStringConvertible {
    /// One sentence a person can act on.
    package var description: String {
        switch self {
        case .malformedFieldName: "A field name is empty or holds a byte that no name may hold."
        case .uppercaseFieldName: "A field name is not in lower case."
        case .malformedFieldValue: "A field value holds NUL or a line end."
        case .connectionSpecificField: "There is a field that HTTP/2 does not allow."
        case .malformedContentLength: "Content-Length is not a number."
        case .conflictingContentLengths: "Several Content-Length values contradict each other."
        case .tooLarge: "The fields are more, or larger, than allowed."
        case .missingPseudoField: "A pseudo-header field is missing."
        case .repeatedPseudoField: "A pseudo-header field comes twice."
        case .latePseudoField: "A pseudo-header field comes behind other fields or in a trailer section."
        case .unexpectedPseudoField: "There is a pseudo-header field that may not be there."
        case .malformedStatus: "The status code is not between 100 and 999."
        case .malformedTarget: "The request's target is malformed."
        case .switchingProtocols: "The server switched protocols, which HTTP/2 does not allow."
        }
    }
}
