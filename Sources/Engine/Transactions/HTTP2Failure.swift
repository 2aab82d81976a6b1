// What can go wrong with one of the exchanges that share a connection, told as the layers above need it.

import URLLoadingWire

/// Why a stream of HTTP/2 gave no whole answer.
package enum HTTP2Failure: Error, Sendable, Equatable {
    /// The server has reset it.
    case reset(HTTP2ErrorCode)
    /// What the server sent on it is no answer; more exactly, if it was about the fields.
    case malformed(HTTP2Fault, HeaderFault?)
    /// The connection has failed, by no fault of this stream.
    case connection(HTTP2Fault)
}

extension HTTP2Failure: CustomStringConvertible {
    /// One sentence a person can act on.
    package var description: String {
        switch self {
        case .reset(let code): "The server has reset the request's stream: \(code)."
        case .malformed(let reason, let fault): fault?.description ?? reason.description
        case .connection(let reason): "The connection has failed. \(reason.description)"
        }
    }
}
