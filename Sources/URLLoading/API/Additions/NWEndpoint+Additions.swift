// Network framework's way to say where something listens, as far as `ProxyConfiguration` needs it. Addresses are names
// like any other here: what is numeric is seen when the endpoint is used.

/// Where something listens.
public enum NWEndpoint: Hashable, Sendable {
    /// A host and a port.
    case hostPort(host: NWEndpoint.Host, port: NWEndpoint.Port)
    /// A UNIX-domain socket.
    case unix(path: String)

    /// A name or an address.
    public enum Host: Hashable, Sendable, ExpressibleByStringLiteral {
        /// The name or the address, IPv6 with brackets or without.
        case name(String)

        /// A name or an address.
        public init(_ string: String) {
            self = .name(string)
        }

        /// A name or an address.
        public init(stringLiteral value: String) {
            self = .name(value)
        }
    }

    /// A port's number.
    public struct Port: Hashable, Sendable, ExpressibleByIntegerLiteral, RawRepresentable {
        private let number: UInt16

        /// A port; never nil.
        public init?(rawValue: UInt16) {
            number = rawValue
        }

        /// A port by its number in decimal digits, or `http`, `https` or `socks`; nil for any other text.
        public init?(_ string: String) {
            let known: [String: Port] = ["http": .http, "https": .https, "socks": .socks]
            if let port = known[string.lowercased()] {
                self = port
            } else {
                guard let number = UInt16(string) else { return nil }
                self.number = number
            }
        }

        /// A port by its number.
        public init(integerLiteral value: UInt16) {
            number = value
        }

        /// The number.
        public var rawValue: UInt16 { number }

        /// 80.
        public static let http: Port = 80
        /// 443.
        public static let https: Port = 443
        /// 1080.
        public static let socks: Port = 1080
    }
}
