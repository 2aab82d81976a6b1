// What connections to a host must be like, whatever a delegate answers (behaviour 3.7): which hosts may be spoken to
// without TLS, what is offered in a handshake, and what a believed server must have shown besides.
//
// Must not know: the dictionary in which a program says it, delegates, sockets.

import URLLoadingTLS
import URLLoadingTrust

/// The demands on all connections of a session.
package struct TransportSecurity: Sendable, Equatable {
    /// What is demanded of hosts for which no exception and no exemption is made; nil demands nothing.
    private let general: Demands?
    /// Whether names without a dot, names below `local` and addresses are exempt (B3.80).
    private let exemptsLocalHosts: Bool
    private let exceptions: [Domain: Demands]
    private let pins: [Domain: PinnedIdentities]

    /// What is demanded of connections to a host.
    package struct Demands: Sendable, Hashable {
        /// Plain http is allowed, and a delegate may believe a server that the evaluation refuses.
        package var allowsInsecureLoads = false
        /// The lowest TLS version.
        package var minimumVersion = TLSVersion.v12
        /// Whether the keys of a connection must be worthless once it is over.
        package var requiresForwardSecrecy = true

        /// What is demanded unless something else is said (B3.76).
        package init() {}
    }

    /// Which hosts an exception or a pin is for (B3.82).
    package enum Domain: Sendable, Hashable {
        /// This host; and everything below it, if it is a name and this says so.
        case host(HostName, andBelow: Bool)
        /// The addresses that begin with these bits.
        case range([UInt8], bits: Int)
    }

    /// A policy; without `general` only hosts of `exceptions` are under demands (B3.79).
    package init(
        general: Demands?, exemptsLocalHosts: Bool, exceptions: [Domain: Demands], pins: [Domain: PinnedIdentities]
    ) {
        self.general = general
        self.exemptsLocalHosts = exemptsLocalHosts
        self.exceptions = exceptions
        self.pins = pins
    }

    /// The policy in words that no other has.
    package var signature: String {
        func words(_ demands: Demands) -> String {
            "\(demands.allowsInsecureLoads) \(demands.minimumVersion) \(demands.requiresForwardSecrecy)"
        }
        let hosts = exceptions.map { "\($0.key.words) \(words($0.value))" }.sorted()
        let keys = pins.map { "\($0.key.words) \($0.value.words)" }.sorted()
        return "\(general.map(words) ?? "") \(exemptsLocalHosts) [\(hosts.joined(separator: ","))]"
            + " [\(keys.joined(separator: ","))]"
    }

    /// Whether a host may be spoken to without TLS.
    package func allowsPlainHTTP(host: String) -> Bool {
        demands(on: HostName(host))?.allowsInsecureLoads ?? true
    }

    /// Raises what is offered to a host to what is demanded of it.
    func restrict(_ options: inout TLSClientOptions, host: String) {
        guard let demands = demands(on: HostName(host)) else { return }
        options.minimum = max(options.minimum, demands.minimumVersion)
        options.ciphers = demands.requiresForwardSecrecy ? .forwardSecretAES : .anyAES
    }

    /// What a server that has been believed does not meet, as a sentence; nil when it meets everything. Throws where
    /// files would have to be read, unless that `mayWait`.
    ///
    /// Where a delegate has vouched for it, `evaluator` is asked again: a delegate can refuse more than the session
    /// does, never less (B3.77).
    func violation(
        host: String, peer: VerifiedPeer, evaluator: any TrustEvaluator, mayWait: Bool
    ) throws(FilesNeeded) -> String? {
        let name = HostName(host)
        let demands = demands(on: name)
        let pinned = Self.mostSpecific(pins, for: name)
        if demands == nil, pinned == nil { return nil }
        var path = peer.path
        if path.isEmpty {
            switch try evaluator.verdict(on: peer.presented, policy: TrustPolicy(host: name), mayWait: mayWait) {
            case .trusted(let judged): path = judged.path
            case .refused(let failure) where demands.map { !$0.allowsInsecureLoads } ?? false:
                return
                    "App Transport Security refuses \(host), though its certificate was accepted. \(failure.description)"
            case .refused: break
            }
        }
        if let demands, !demands.allowsInsecureLoads {
            if path.isEmpty { return "the certificate of \(host) was not judged." }
            if let weakness = peer.presented.leaf.weakness { return "the certificate of \(host) is weak: \(weakness)." }
        }
        if let pinned, !pinned.match(leaf: peer.presented.leaf, path: path) {
            return "the keys of \(host) are not among those that App Transport Security pins for it."
        }
        return nil
    }

    private func demands(on host: HostName) -> Demands? {
        if let exception = Self.mostSpecific(exceptions, for: host) { return exception }
        return exemptsLocalHosts && Self.isLocal(host) ? nil : general
    }

    private static func mostSpecific<Value>(_ entries: [Domain: Value], for host: HostName) -> Value? {
        if entries.isEmpty { return nil }
        return entries.filter { $0.key.contains(host) }.max { $0.key.weight < $1.key.weight }?.value
    }

    private static func isLocal(_ host: HostName) -> Bool {
        switch host {
        case .ip: true
        case .dns(let name): !name.contains(".") || name.hasSuffix(".local")
        }
    }
}

extension TransportSecurity.Domain {
    fileprivate var words: String {
        switch self {
        case .host(let host, let andBelow): "\(host.description) \(andBelow)"
        case .range(let start, let bits): "\(start)/\(bits)"
        }
    }

    fileprivate func contains(_ host: HostName) -> Bool {
        switch (self, host) {
        case (.host(let own, _), _) where own == host: return true
        case (.host(.dns(let domain), andBelow: true), .dns(let name)): return name.hasSuffix("." + domain)
        case (.host, _), (.range, .dns): return false
        case (.range(let start, let bits), .ip(let address)):
            guard start.count == address.count else { return false }
            return zip(start, address).enumerated().allSatisfy { place, bytes in
                // How many bits of this byte belong to the range's beginning.
                let relevant = min(max(bits - place * 8, 0), 8)
                return (bytes.0 ^ bytes.1) >> (8 - relevant) == 0
            }
        }
    }

    /// The most specific entry counts: longer names and ranges before shorter ones, an address before a range.
    fileprivate var weight: Int {
        switch self {
        case .host(.dns(let name), _): name.utf8.count
        case .host(.ip, _): .max
        case .range(_, let bits): bits
        }
    }
}
