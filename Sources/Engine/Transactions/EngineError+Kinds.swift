// What a failure means for what follows it: whether another way to the server may help (B13.4), whether the same
// once more may, and what is left of the answer. One table says it of every error; no other code lists errors for that.
//
// Must not know: which ways there are, when something is tried again, and what a program is told.

import URLLoadingSystem

extension EngineError {
    /// Whether the way did not lead to the server, so that nothing has been sent and another one may.
    package var isOfTheWay: Bool { kinds.contains(.ofTheWay) }

    /// Whether an exchange was lost that had begun, as opposed to having said something wrong.
    package var isLoss: Bool { kinds.contains(.loss) }

    /// Whether the connection was lost, and not only what was said on it ended.
    package var isLossOfConnection: Bool { kinds.contains(.lossOfConnection) }

    /// Whether the exchange failed on the server's side or on the way back: what has come of the answer breaks off.
    package var isOfTheExchange: Bool { kinds.contains(.ofTheExchange) }

    /// Whether the network is to blame, so that it may be better later (B11.28). A time-out is not: the program has
    /// said how long it wants to wait. A proxy is not, either: it is a setting.
    package var isInterruption: Bool { kinds.contains(.interruption) }

    /// Whether it ends the waiting for a delegate's answer (B6.8): the answer is not wanted any
    /// more, or all time is over.
    package var endsWaiting: Bool { kinds.contains(.endsWaiting) }

    /// Whether what has come of the answer is part of the right one, so that only the rest has to be asked for (B9.5).
    package var leavesPart: Bool { kinds.contains(.leavesPart) }

    /// Whether nothing was heard for too long.
    var isSilence: Bool { if case .idleTimeout = self { true } else { false } }

    /// What kept it from a host, the server or the proxy before it; nil where it was something else.
    package var obstacle: Obstacle? {
        if case .nameLookup(let failure) = self { return .lookup(failure) }
        if case .connect(_, let failures) = self { return .connect(failures) }
        guard case .proxy(let failure) = self else { return nil }
        if case .lookup(let failure) = failure.reason { return .lookup(failure) }
        if case .unreachable(let failures) = failure.reason { return .connect(failures) }
        return nil
    }

    /// Why a host was not reached.
    package enum Obstacle: Sendable {
        /// Its name was not found.
        case lookup(ResolverFailure)
        /// None of its addresses answered.
        case connect([ConnectFailure])
    }

    private var kinds: Kinds {
        switch self {
        case .cancelled, .resourceTimeout: [.endsWaiting, .leavesPart]
        case .idleTimeout(_, let phase, _): phase.isOfTheWay ? [.silence, .ofTheWay] : .silence
        case .connectionTimeout(_, let phase, _): phase.isOfTheWay ? [.ofTheWay, .leavesPart] : .leavesPart
        case .nameLookup, .connect: [.ofTheWay, .interruption, .leavesPart]
        case .proxy(let failure): failure.reason.kinds
        case .connectionLost, .http2(.connection): .lostConnection
        case .wire(let error): error.kind == .truncated ? .lostConnection : .ofTheExchange
        case .http2(.reset): .lostExchange
        case .http2(.malformed): .ofTheExchange
        case .tls: [.ofTheExchange, .leavesPart]
        case .localResource: .leavesPart
        case .body, .invalidRequest, .undetachable, .ftp: []
        }
    }

    /// What is true of an error.
    fileprivate struct Kinds: OptionSet {
        let rawValue: UInt8

        static let ofTheWay = Kinds(rawValue: 1 << 0)
        static let loss = Kinds(rawValue: 1 << 1)
        static let lossOfConnection = Kinds(rawValue: 1 << 2)
        static let ofTheExchange = Kinds(rawValue: 1 << 3)
        static let interruption = Kinds(rawValue: 1 << 4)
        static let endsWaiting = Kinds(rawValue: 1 << 5)
        static let leavesPart = Kinds(rawValue: 1 << 6)

        static let silence: Kinds = [.ofTheExchange, .leavesPart]
        static let lostExchange: Kinds = [.loss, .ofTheExchange, .interruption, .leavesPart]
        static let lostConnection: Kinds = [.lostExchange, .lossOfConnection]
    }
}

extension EngineError.Phase {
    /// Whether nothing of a request can have reached the server by then, and it is the way that was silent.
    fileprivate var isOfTheWay: Bool {
        switch self {
        case .lookingUpName, .lookingUpProxy, .connecting, .shakingHandsWithProxy, .tunnelling: true
        case .waitingForConnection, .waitingForConnectivity, .shakingHands, .sendingRequest, .waitingForBody,
            .waitingForResponse, .receivingBody, .waitingForProgram, .conversing:
            false
        }
    }
}

extension ProxyFailure.Reason {
    /// Whether the proxy is out of order: one that works and says no has the last word.
    fileprivate var kinds: EngineError.Kinds {
        switch self {
        case .lookup, .unreachable, .tls, .garbage, .closed, .socks(.malformed): [.ofTheWay, .leavesPart]
        case .tlsBroken: [.ofTheExchange, .leavesPart]
        case .refused, .authentication, .socks, .unsendable: .leavesPart
        }
    }
}
