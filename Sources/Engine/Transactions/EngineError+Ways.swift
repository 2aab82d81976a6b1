// Which failures speak of the way to a server and not of the server, so that another way may lead there (B13.4).
//
// Must not know: which ways there are, who tries them.

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
            .ftp,
            .localResource:
            false
        }
    }
}
