// The codes with which web sockets are closed (RFC 6455 §7.4). Apple's enumeration takes every number; here those that
// have no name are a case of their own.

extension URLSessionWebSocketTask {
    /// Why a conversation was closed.
    public enum CloseCode: RawRepresentable, Hashable, Sendable {
        /// The conversation was not closed.
        case invalid
        /// All was said.
        case normalClosure
        /// A server shuts down, or a program leaves.
        case goingAway
        /// The protocol was broken.
        case protocolError
        /// A message was of a kind that is not accepted.
        case unsupportedData
        /// The close frame had no code; never sent.
        case noStatusReceived
        /// There was no close frame; never sent.
        case abnormalClosure
        /// A message's content did not fit its kind.
        case invalidFramePayloadData
        /// A message was against the rules of its receiver.
        case policyViolation
        /// A message was too big.
        case messageTooBig
        /// The server did not agree to an extension that is needed.
        case mandatoryExtensionMissing
        /// The server could not go on.
        case internalServerError
        /// TLS could not be set up; never sent.
        case tlsHandshakeFailure
        /// A number that has no name here: those of applications are from 3000 to 4999.
        case other(Int)

        /// The code of a number, whichever it is.
        public init?(rawValue: Int) {
            self =
                switch rawValue {
                case 0: .invalid
                case 1000: .normalClosure
                case 1001: .goingAway
                case 1002: .protocolError
                case 1003: .unsupportedData
                case 1005: .noStatusReceived
                case 1006: .abnormalClosure
                case 1007: .invalidFramePayloadData
                case 1008: .policyViolation
                case 1009: .messageTooBig
                case 1010: .mandatoryExtensionMissing
                case 1011: .internalServerError
                case 1015: .tlsHandshakeFailure
                default: .other(rawValue)
                }
        }

        /// The number.
        public var rawValue: Int {
            switch self {
            case .invalid: 0
            case .normalClosure: 1000
            case .goingAway: 1001
            case .protocolError: 1002
            case .unsupportedData: 1003
            case .noStatusReceived: 1005
            case .abnormalClosure: 1006
            case .invalidFramePayloadData: 1007
            case .policyViolation: 1008
            case .messageTooBig: 1009
            case .mandatoryExtensionMissing: 1010
            case .internalServerError: 1011
            case .tlsHandshakeFailure: 1015
            case .other(let number): number
            }
        }

        /// Whether the numbers are the same.
        public static func == (left: Self, right: Self) -> Bool { left.rawValue == right.rawValue }

        /// Hashes the number.
        public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
    }
}
