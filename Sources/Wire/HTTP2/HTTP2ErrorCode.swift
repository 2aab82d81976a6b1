// The numbers by which HTTP/2 says why a stream or a connection ends. They know nothing of the end that says them. RFC
// 9113 §7.

/// Why a stream or a connection ends; a number that is not known is kept as it came (RFC 9113 §7).
package struct HTTP2ErrorCode: RawRepresentable, Hashable, Sendable {
    /// The number on the wire.
    package let rawValue: UInt32

    /// Takes any number.
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// No error: a proper end.
    package static var noError: HTTP2ErrorCode { HTTP2ErrorCode(rawValue: 0x0) }
    /// A rule was broken for which there is no code of its own.
    package static var protocolError: HTTP2ErrorCode { HTTP2ErrorCode(rawValue: 0x1) }
    /// The end that sends this code has failed by itself.
    package static var internalError: HTTP2ErrorCode { HTTP2ErrorCode(rawValue: 0x2) }
    /// More came than a window allowed, or a window grew too large.
    package static var flowControlError: HTTP2ErrorCode { HTTP2ErrorCode(rawValue: 0x3) }
    /// Settings were not acknowledged in time.
    package static var settingsTimeout: HTTP2ErrorCode { HTTP2ErrorCode(rawValue: 0x4) }
    /// Something came for a stream whose sender had ended it.
    package static var streamClosed: HTTP2ErrorCode { HTTP2ErrorCode(rawValue: 0x5) }
    /// A frame has a size that it may not have.
    package static var frameSizeError: HTTP2ErrorCode { HTTP2ErrorCode(rawValue: 0x6) }
    /// The stream was not processed at all.
    package static var refusedStream: HTTP2ErrorCode { HTTP2ErrorCode(rawValue: 0x7) }
    /// The stream is not wanted any more.
    package static var cancel: HTTP2ErrorCode { HTTP2ErrorCode(rawValue: 0x8) }
    /// The state of field compression is lost.
    package static var compressionError: HTTP2ErrorCode { HTTP2ErrorCode(rawValue: 0x9) }
    /// The connection that a CONNECT asked for has failed.
    package static var connectError: HTTP2ErrorCode { HTTP2ErrorCode(rawValue: 0xA) }
    /// The peer makes too much work.
    package static var enhanceYourCalm: HTTP2ErrorCode { HTTP2ErrorCode(rawValue: 0xB) }
    /// The TLS below is too weak.
    package static var inadequateSecurity: HTTP2ErrorCode { HTTP2ErrorCode(rawValue: 0xC) }
    /// The request is to be made by HTTP/1.1.
    package static var http11Required: HTTP2ErrorCode { HTTP2ErrorCode(rawValue: 0xD) }
}

extension HTTP2ErrorCode: CustomStringConvertible {
    /// The name that the RFC gives it, or the number.
    package var description: String {
        switch self {
        case .noError: "NO_ERROR"
        case .protocolError: "PROTOCOL_ERROR"
        case .internalError: "INTERNAL_ERROR"
        case .flowControlError: "FLOW_CONTROL_ERROR"
        case .settingsTimeout: "SETTINGS_TIMEOUT"
        case .streamClosed: "STREAM_CLOSED"
        case .frameSizeError: "FRAME_SIZE_ERROR"
        case .refusedStream: "REFUSED_STREAM"
        case .cancel: "CANCEL"
        case .compressionError: "COMPRESSION_ERROR"
        case .connectError: "CONNECT_ERROR"
        case .enhanceYourCalm: "ENHANCE_YOUR_CALM"
        case .inadequateSecurity: "INADEQUATE_SECURITY"
        case .http11Required: "HTTP_1_1_REQUIRED"
        default: "error \(rawValue)"
        }
    }
}
