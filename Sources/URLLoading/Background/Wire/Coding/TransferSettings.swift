// How the transfers of a background session load: its configuration, as far as that can be written down. It must not
// know `URLSessionConfiguration`.

import URLLoadingPolicy

/// The settings of a background session.
package struct TransferSettings: Sendable, Hashable {
    /// The session's identifier, as the program wrote it.
    package var identifier: String
    /// Fields for every request that has none of that name.
    package var additionalFields: [TransferField] = []
    /// The longest time without a byte, in milliseconds; ends an attempt and not the task (B10.22).
    package var requestTimeout: Int64 = 60_000
    /// The longest time for a task, in milliseconds; nil for none.
    package var resourceTimeout: Int64? = 604_800_000
    /// `requestCachePolicy`; there is no cache, but its fields are sent.
    package var cachePolicy: UInt32 = 0
    /// The lowest version of TLS, by Apple's number.
    package var tlsMinimum: UInt16 = 0x0303
    /// The highest version of TLS, by Apple's number.
    package var tlsMaximum: UInt16 = 0x0304
    /// Connections per host.
    package var connectionsPerHost: UInt32 = 6
    /// When HTTP/2 is spoken: 0 never, 1 where servers choose it, 2 also without asking.
    package var http2: UInt8 = 1
    /// Transfers at a time (B10.9).
    package var transfersAtATime: UInt32 = 4
    /// Whether the time is left to the system (B10.12).
    package var isDiscretionary = false
    /// Whether the hook is run when news wait and no program is there (B10.35).
    package var sendsLaunchEvents = true
    /// The command line of the hook; empty for none.
    package var hook: [String] = []
    /// Whether names have to be proven by DNSSEC.
    package var requiresDNSSEC = false
    /// Which uploads can be resumed: 0 none, 1 those of files, 2 all.
    package var resumableUploads: UInt8 = 1
    /// The proxy dictionary; nil for the variables of the environment.
    package var proxies: [Proxy]?
    /// The variables of the program's environment that name proxies, where these count.
    package var proxyEnvironment: [TransferField] = []
    /// Addresses for names.
    package var hostOverrides: [TransferField] = []
    /// The UNIX-domain socket of all connections.
    package var unixSocketPath: String?
    /// The address connections are made from.
    package var localAddress: String?
    /// The interface connections are made through.
    package var networkInterface: String?
    /// The file of TLS secrets.
    package var tlsKeyLogFile: String?
    /// How servers are judged.
    package var trust = Trust.system

    /// Makes settings with default values.
    package init(identifier: String) {
        self.identifier = identifier
    }

    /// An entry of the proxy dictionary.
    package struct Proxy: Sendable, Hashable {
        /// The key.
        package var key: String
        /// The value.
        package var value: Value

        /// A value.
        package enum Value: Sendable, Hashable {
            /// A number.
            case number(Int64)
            /// A text.
            case text(String)
            /// A list of texts.
            case list([String])
        }

        /// Makes an entry.
        package init(key: String, value: Value) {
            self.key = key
            self.value = value
        }
    }

    /// How servers are judged; certificates are DER.
    package indirect enum Trust: Sendable, Hashable {
        /// By the system's roots.
        case system
        /// By these roots, and perhaps the system's.
        case anchors([[UInt8]], alsoSystem: Bool)
        /// By another choice, and by one of these certificates.
        case pinnedCertificates([[UInt8]], Trust)
        /// By another choice, and by one of these keys.
        case pinnedKeys([String], Trust)
        /// This one certificate for this one host; others by a choice.
        case selfSigned([UInt8], host: String, Trust)
        /// By one of these.
        case anyOf([Trust])
        /// By all of these.
        case allOf([Trust])
        /// By the keys in a file.
        case knownHosts(String)
        /// Each host by its own.
        case perHost([Host], Trust?)
        /// Not at all.
        case anyCertificate

        /// A pattern and its choice.
        package struct Host: Sendable, Hashable {
            /// The pattern.
            package var pattern: String
            /// The choice.
            package var choice: Trust

            /// Makes an entry.
            package init(pattern: String, choice: Trust) {
                self.pattern = pattern
                self.choice = choice
            }
        }
    }
}
