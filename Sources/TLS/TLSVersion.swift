// The protocol versions. Which of them are wise is the caller's matter.

/// A version of TLS by its number on the wire.
package enum TLSVersion: UInt16, Sendable, Hashable, Comparable {
    /// TLS 1.0.
    case v10 = 0x0301
    /// TLS 1.1.
    case v11 = 0x0302
    /// TLS 1.2.
    case v12 = 0x0303
    /// TLS 1.3.
    case v13 = 0x0304

    /// Older is less.
    package static func < (left: TLSVersion, right: TLSVersion) -> Bool {
        left.rawValue < right.rawValue
    }

    /// The name people use.
    package var description: String {
        switch self {
        case .v10: "TLS 1.0"
        case .v11: "TLS 1.1"
        case .v12: "TLS 1.2"
        case .v13: "TLS 1.3"
        }
    }
}
