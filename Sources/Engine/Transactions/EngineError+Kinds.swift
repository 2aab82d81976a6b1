// What kinds of failure there are, as far as that says what may help: another way to the server (B13.4), or the same once more.
//
// Must not know: which ways there are, and when something is tried again.

extension EngineError {
    /// Whether the way did not lead to the server, so that nothing has been sent and another one may.
    package var isOfTheWay: Bool {
        switch self {
        case .nameLookup, .connect: true
        case .idleTimeout(_, let phase, _):
            switch phase {
            case .lookingUpName, .connecting, .tunnelling: true
            case .waitingForConnection, .waitingForConnectivity, .shakingHands, .sendingRequest, .waitingForBody,
                .waitingForResponse, .receivingBody, .conversing:
                false
            }
        case .proxy(let failure):
            switch failure.reason {
            case .lookup, .unreachable, .tls, .garbage, .closed, .socks(.malformed): true
            // The proxy works, and says no.
            case .refused, .authentication, .socks, .unsendable: false
            }
        case .cancelled, .resourceTimeout, .tls, .connectionLost, .wire, .http2, .body, .invalidRequest, .undetachable,
            .ftp, .localResource:
            false
        }
    }

    /// Whether an exchange was lost that had begun, as opposed to having said something wrong.
    package var isLoss: Bool {
        switch self {
        case .connectionLost: true
        case .wire(let error): error.kind == .truncated
        case .http2(let failure): failure.isLoss
        case .cancelled, .idleTimeout, .resourceTimeout, .nameLookup, .connect, .proxy, .tls, .body, .invalidRequest,
            .undetachable, .ftp, .localResource:
            false
        }
    }

    /// Whether the connection was lost, and not only what was said on it ended.
    var isLossOfConnection: Bool { if case .http2(.reset) = self { false } else { isLoss } }
}
