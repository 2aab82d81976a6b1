// What becomes of a web socket's failures (B15.5, B15.19, B15.20, B15.31 to B15.34): errors of the system's where Apple
// has them (B17.55), `URLError`s for everything else.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingTrust
import URLLoadingWire

extension ErrorMapping {
    /// The public error for what a call or the task has failed with.
    static func webSocketError(
        _ failure: WebSocketFailure, url: URL?, evaluator: any TrustEvaluator
    ) -> any Error {
        switch failure {
        case .known(let error): error
        case .engine(let error): urlError(error, url: url, evaluator: evaluator)
        case .end(.cancelled): LoadFailure.cancelled(url)
        case .end(.closed): posix(.ENOTCONN, url, "The web socket has been closed.")
        case .end(.lost):
            LoadFailure.make(.networkConnectionLost, url, ErrorText.naming("The connection is over.", hostOf: url))
        case .end(.fault(let fault)): faultError(fault, url)
        }
    }

    private static func faultError(_ fault: WebSocketFault, _ url: URL?) -> any Error {
        switch fault {
        case .messageTooBig: posix(.EMSGSIZE, url, fault.description)
        case .outOfMemory: posix(.ENOMEM, url, fault.description)
        case .reservedBit, .reservedOpcode, .maskedByServer, .unmaskedByClient, .fragmentedControl, .controlTooLong,
            .lengthNotMinimal, .lengthTooLarge, .continuationWithoutStart, .messageInsideMessage, .malformedClose,
            .invalidCloseCode, .invalidCloseReason, .invalidText, .corruptCompression:
            LoadFailure.make(
                .badServerResponse, url, ErrorText.naming(fault.description, hostOf: url),
                underlying: posix(.EPROTO, nil, fault.description))
        }
    }

    /// The public error for an answer that opens no web socket (B15.5).
    static func refusedWebSocket(_ refusal: WebSocketHandshake.Refusal, url: URL?) -> URLError {
        let text =
            switch refusal {
            case .status(let status): "The server has answered with \(status) in place of opening a web socket."
            case .upgradeMissing, .connectionMissing:
                "The server has answered with 101, but does not say that it switches to web sockets."
            case .wrongAccept: "The server's answer does not prove that it has understood what a web socket is."
            case .unknownProtocol: "The server has chosen a protocol that was not offered."
            case .unknownExtension: "The server has chosen an extension that was not offered, or not so."
            }
        return LoadFailure.make(
            .badServerResponse, url, ErrorText.naming(text, hostOf: url),
            underlying: UnderlyingError.message(.badResponse, text))
    }

    /// The public error for a handshake that the engine could not carry out: whatever the server has said that is no
    /// answer is a bad answer (B15.32).
    static func handshakeError(_ failure: EngineError, url: URL?, evaluator: any TrustEvaluator) -> URLError {
        guard case .wire(let error) = failure, error != .closedBeforeResponse else {
            return urlError(failure, url: url, evaluator: evaluator)
        }
        let text = ErrorText.naming(failure.description, hostOf: url)
        return LoadFailure.make(.badServerResponse, url, text, underlying: UnderlyingError.wire(error))
    }

    private static func posix(_ code: POSIXError.Code, _ url: URL?, _ description: String) -> POSIXError {
        var userInfo: [String: Any] = [NSLocalizedDescriptionKey: ErrorText.naming(description, hostOf: url)]
        if let url {
            userInfo[NSURLErrorFailingURLErrorKey] = url
            userInfo[LoadFailure.failingURLStringKey] = url.absoluteString
        }
        return POSIXError(code, userInfo: userInfo)
    }
}
