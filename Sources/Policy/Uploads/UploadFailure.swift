// Why an upload cannot be brought to its end although its server is there. Values, with a sentence for a person.

/// What stops a resumable upload.
package enum UploadFailure: Error, Sendable, Equatable {
    /// The server says that nothing more is taken (B11.35).
    case refused(status: Int)
    /// The upload resource is gone (B11.35).
    case gone(status: Int)
    /// The server does not say how much it has.
    case unknownOffset
    /// The server claims to have bytes that were never sent (B11.33).
    case offsetTooLarge(Int64, sent: Int64)
    /// The server has lost bytes that it had confirmed (B11.33).
    case offsetDecreased(from: Int64, to: Int64)
    /// The server calls the upload complete, and has not all of it.
    case completeTooEarly(Int64, length: Int64)
    /// The server has named two places for one upload.
    case movedElsewhere
    /// The body is larger than the server allows (B11.36).
    case tooLarge(limit: Int64)
    /// The body is smaller than the server allows (B11.36).
    case tooSmall(limit: Int64)
    /// The body cannot be cut into the parts that the server demands (B11.36).
    case unusableParts(limit: Int64)
    /// So many attempts in a row have brought the server nothing.
    case noProgress(attempts: Int)

    /// Whether going on later may help.
    package var mayPass: Bool {
        switch self {
        case .refused, .noProgress: true
        case .gone, .unknownOffset, .offsetTooLarge, .offsetDecreased, .completeTooEarly, .movedElsewhere, .tooLarge,
            .tooSmall, .unusableParts:
            false
        }
    }
}

extension UploadFailure: CustomStringConvertible {
    /// One sentence for a person.
    package var description: String {
        switch self {
        case .refused(let status): "The server does not let the upload go on: it answered with \(status)."
        case .gone(let status): "The server does not know the upload any more: it answered with \(status)."
        case .unknownOffset: "The server does not say how much of the upload it has."
        case .offsetTooLarge(let offset, let sent):
            "The server claims to have \(offset) bytes of the upload, of which \(sent) were sent."
        case .offsetDecreased(let before, let after):
            "The server has lost a part of the upload: it had \(before) bytes and has \(after)."
        case .completeTooEarly(let offset, let length):
            "The server calls the upload complete with \(offset) of \(length) bytes."
        case .movedElsewhere: "The server has named two places for one upload."
        case .tooLarge(let limit): "The upload is larger than the \(limit) bytes that the server allows."
        case .tooSmall(let limit): "The upload is smaller than the \(limit) bytes that the server demands."
        case .unusableParts(let limit): "The upload cannot be cut into parts of \(limit) bytes, as the server demands."
        case .noProgress(let attempts): "\(attempts) attempts in a row to go on with the upload have come to nothing."
        }
    }
}
