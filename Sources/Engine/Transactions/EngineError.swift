// What can go wrong below the public API, told so that one file above can map it and a person can act on it.
//
// Texts name hosts, addresses, phases and counts; never field values or anything else that may be secret.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTLS
import URLLoadingWire

/// Why a transaction failed.
package enum EngineError: Error, Sendable {
    /// The caller cancelled, or the engine was shut down.
    case cancelled
    /// No byte moved for the idle time-out (B6.1).
    case idleTimeout(host: String, phase: Phase, after: Duration)
    /// A connection was on its way for longer than it may be (B6.39).
    case connectionTimeout(host: String, phase: Phase, after: Duration)
    // Indirect for the error in it.
    /// The whole transfer took too long (B6.5); the exchange that was under way had lasted so long. Where it waited for
    /// a network, with what the last attempt failed of.
    indirect case resourceTimeout(host: String, phase: Phase, after: Duration, lastAttempt: EngineError? = nil)
    /// The host's name could not be looked up.
    case nameLookup(ResolverFailure)
    /// No address accepted a connection; every reason, in the order of the attempts (B16.11).
    case connect(host: String, [ConnectFailure])
    // Indirect, so that every outcome does not carry the room for one.
    /// A proxy on the way did not open it.
    indirect case proxy(ProxyFailure)
    /// The TLS handshake, the trust verdict or a record failed.
    case tls(TLSError, host: String)
    /// The connection was lost after it had been established.
    case connectionLost(SystemError?, phase: Phase, received: Int64, expected: Int64?)
    /// The response was malformed, truncated or could not be decoded.
    case wire(WireError)
    /// The answer on a connection that requests share was malformed, or was ended by the server.
    case http2(HTTP2Failure)
    /// The request's content could not be sent whole.
    case body(BodyFailure)
    /// The request could not be sent as it is.
    case invalidRequest(WireError)
    /// The connection was to become a stream of bytes and cannot (B1.70).
    case undetachable(Undetachable)
    /// An FTP server said no, or something that makes no sense.
    case ftp(FTPFailure)
    /// This machine ran out of something: descriptors, memory, buffers.
    case localResource(SystemError)

    /// One address and why it did not answer.
    package struct ConnectFailure: Error, Sendable, Equatable {
        /// The address that was tried.
        private let place: Place
        /// What the system said.
        package let error: SystemError

        private enum Place: Equatable {
            case address(SocketAddress)
            case path(String)
        }

        /// Whether it is for the address' family, which cannot be used here, and says nothing about the network.
        package var isWrongFamily: Bool {
            if case .address(let address) = place { error.isWrongFamily(address.family) } else { false }
        }

        /// Whether it is an IPv6 address, and this machine has no way to such ones.
        var isWantOfIPv6: Bool {
            guard case .address(let address) = place, address.family == .ipv6 else { return false }
            return isWrongFamily || error.isNoNetwork
        }

        /// One failed attempt.
        package init(address: SocketAddress, error: SystemError) {
            place = .address(address)
            self.error = error
        }

        /// No attempt: the path is no address of a socket.
        init(unusablePath path: String) {
            place = .path(path)
            error = SocketAddress.problem(ofPath: path)
        }
    }

    /// Why a connection cannot leave HTTP.
    package enum Undetachable: Sendable {
        /// Something of the request is still to be sent.
        case requestUnfinished
        /// It is not the case that a response's head has come, and nothing behind it has been read.
        case notAtHead
        /// Other requests use the connection: it speaks HTTP/2 (H1.7).
        case shared
    }

    /// How far a transaction had come.
    package enum Phase: String, Sendable {
        /// Every connection to the host was in use.
        case waitingForConnection = "waiting for a free connection"
        /// There was no way to the host.
        case waitingForConnectivity = "waiting for a network"
        /// The name was being looked up.
        case lookingUpName = "looking up the host's name"
        /// The proxy's name was being looked up.
        case lookingUpProxy = "looking up the proxy's name"
        /// An address was being connected to.
        case connecting = "connecting"
        /// A proxy had been asked for the way, and had not opened it.
        case tunnelling = "waiting for the proxy"
        /// TLS was being set up with a proxy.
        case shakingHandsWithProxy = "setting up TLS with the proxy"
        /// TLS was being set up with the server.
        case shakingHands = "setting up TLS"
        /// The request was being sent.
        case sendingRequest = "sending the request"
        /// The next part of the request's body has not been supplied.
        case waitingForBody = "waiting for more of the request's body"
        /// The request was sent, nothing had come back.
        case waitingForResponse = "waiting for the response"
        /// The response had begun.
        case receivingBody = "receiving the response's body"
        /// A question was open, or nothing more was taken.
        case waitingForProgram = "waiting for the program to answer, or to take more"
        /// The connection had become a web socket.
        case conversing = "exchanging messages"
    }
}

extension EngineError.ConnectFailure: CustomStringConvertible {
    /// Address and reason.
    package var description: String {
        switch place {
        case .address(let address): "\(address): \(error)"
        case .path(let path): "\"\(path)\": \(error)"
        }
    }
}

extension EngineError {
    /// That none of a host's addresses took the connection, and why. The system's words for want of IPv6 do not say
    /// that the host has nothing else, which is all there is to understand.
    static func unconnected(_ host: String, isName: Bool, _ failures: [ConnectFailure]) -> String {
        guard !failures.isEmpty else { return "No connection to \(host): it has no address." }
        let reasons = failures.map { "\($0)" }.joined(separator: "; ")
        guard isName, failures.allSatisfy(\.isWantOfIPv6) else { return "No connection to \(host): \(reasons)." }
        return "No connection to \(host), of which only IPv6 addresses are known, and this machine cannot use them: "
            + "\(reasons)."
    }
}

extension Route {
    /// A host as time-outs name it: with the proxy on the way there, which may be what is silent.
    func timedOut(_ host: String) -> String { proxy.map { "\(host) through the proxy \($0)" } ?? host }
}

extension PoolKey {
    /// Where its connections lead, as time-outs name it: hosts that a proxy forwards to share its connections.
    var timedOut: String {
        guard isForwarding, let proxy = route.proxy else { return route.timedOut(origin.host) }
        return "the proxy \(proxy)"
    }
}

extension EngineError: CustomStringConvertible {
    /// One sentence for a person.
    package var description: String {
        switch self {
        case .cancelled:
            return "The request was cancelled."
        case .idleTimeout(let host, let phase, let duration):
            return "Nothing was heard from \(host) for \(duration.rounded) while \(phase.rawValue)."
        case .connectionTimeout(let host, let phase, let duration):
            return "There was no connection to \(host) within \(duration.rounded); it was \(phase.rawValue)."
        case .resourceTimeout(let host, let phase, let duration, let lastAttempt):
            let end = lastAttempt.map { "; the last attempt has failed: \($0)" } ?? "."
            return
                "The transfer took longer than its time-out; after \(duration.rounded) with \(host) it was \(phase.rawValue)\(end)"
        case .nameLookup(let failure):
            return "\(failure)"
        case .connect(let host, let failures):
            return Self.unconnected(host, isName: !host.contains(":"), failures)
        case .proxy(let failure):
            return failure.description
        case .tls(let error, let host):
            return "TLS with \(host) failed: \(error)"
        case .connectionLost(let cause, let phase, let received, let expected):
            let how = cause.map { "was lost (\($0))" } ?? "was closed by the server"
            let counts =
                switch (received, expected) {
                case (0, nil): ""
                case (_, let expected?): " after \(received) of \(expected) bytes"
                case (_, nil): " after \(received) bytes"
                }
            return "The connection \(how) while \(phase.rawValue)\(counts)."
        case .wire(let error):
            return "\(error)"
        case .http2(let failure):
            return "\(failure)"
        case .body(.endedEarly(let given, let announced)):
            return "The request's body ended after \(given) of \(announced) bytes."
        case .body(.goesBeyond(let announced)):
            return "The request's body goes on behind the \(announced) bytes that were announced."
        case .body(.unreadable(let error)):
            return "The file with the request's body could not be read: \(error)"
        case .body(.source):
            return "The request's body could not be read."
        case .invalidRequest(let error):
            return "The request cannot be sent: \(error)"
        case .undetachable(.requestUnfinished):
            return "The connection cannot become a stream, because the request has not been sent whole."
        case .undetachable(.notAtHead):
            return "The connection can become a stream only before anything of the response's body is read."
        case .undetachable(.shared):
            return "The connection cannot become a stream: it speaks HTTP/2, and other requests use it."
        case .ftp(let failure):
            return "\(failure)"
        case .localResource(let error):
            return "This machine has run out of a resource: \(error)"
        }
    }
}

extension Duration {
    /// As exact as a person wants it: tenths of a second, and below one second thousandths.
    fileprivate var rounded: Duration {
        guard self > .zero, self < .seconds(1 << 32) else { return self }
        let step = self < .seconds(1) ? Duration.milliseconds(1) : .milliseconds(100)
        return step * Int((self / step).rounded())
    }
}
