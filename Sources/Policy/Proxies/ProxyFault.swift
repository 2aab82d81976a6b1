// What is wrong with a proxy as it was configured. Never with the text itself, which may hold a password.

/// Why a setting names no usable proxy.
package struct ProxyFault: Error, Sendable, Hashable {
    /// What can be wrong.
    package enum Reason: Sendable, Hashable {
        /// The text is no URL of a proxy.
        case notAURL
        /// Its scheme is none that proxies have.
        case unknownScheme
        /// The host is missing or can be none.
        case badHost
        /// The port is no number from 1 to 65535.
        case badPort
        /// The answer of a resolver is empty, or not in the form that such answers have.
        case badAnswer
    }

    /// Where it was said: the name of a variable or of a key.
    package let source: String
    /// What is wrong with it.
    package let reason: Reason

    /// A fault of a setting.
    package init(source: String, _ reason: Reason) {
        self.source = source
        self.reason = reason
    }
}

extension ProxyFault: CustomStringConvertible {
    /// One sentence for a person.
    package var description: String {
        let what =
            switch reason {
            case .notAURL: "is no URL of a proxy"
            case .unknownScheme: "has a scheme that proxies do not have"
            case .badHost: "does not name a host"
            case .badPort: "has a port that is no number from 1 to 65535"
            case .badAnswer: "is no list of proxies"
            }
        return "\(source) \(what)."
    }
}
