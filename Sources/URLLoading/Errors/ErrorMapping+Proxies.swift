// Failures of proxies as `URLError`s: the outer code is what a program can act on, the error underneath is CFNetwork's
// for the same thing, and the URL is always the one that was to be loaded, never the proxy's (B17.56).

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingTLS
import URLLoadingTrust

extension ErrorMapping {
    /// B2.102, B13.17 to B13.19, B13.27.
    static func proxyError(_ failure: ProxyFailure, url: URL?, _ evaluator: any TrustEvaluator) -> URLError {
        let text = failure.description
        func make(_ code: URLError.Code, _ underlying: (any Error)?) -> URLError {
            LoadFailure.make(code, url, text, underlying: underlying)
        }
        func connection(_ cause: (any Error)?) -> any Error {
            UnderlyingError.proxy(UnderlyingError.connectionToProxy(for: url), text, cause: cause)
        }
        func response(_ status: Int?, _ cause: (any Error)? = nil) -> any Error {
            UnderlyingError.proxy(
                .cfStreamErrorHTTPSProxyFailureUnexpectedResponseToCONNECTMethod, text, status: status, cause: cause)
        }
        switch failure.reason {
        case .lookup(let reason):
            return make(lookupCode(reason), UnderlyingError.resolver(reason))
        case .unreachable(let failures):
            let cause = decisiveFailure(failures).map { UnderlyingError.system($0.error) }
            let code: URLError.Code =
                failures.isEmpty ? .cannotConnectToHost : connectCode(failures)
            return make(code, failure.proxy.kind.isHTTP ? connection(cause) : cause)
        case .tls(.untrusted(let refusal)), .tlsBroken(.untrusted(let refusal)):
            return trustError(
                refusal, "The certificate of the proxy \(failure.proxy) is invalid: \(refusal.description)",
                host: failure.proxy.host, url: url, evaluator)
        case .tls(let reason), .tlsBroken(let reason):
            return make(tlsCode(reason), connection(UnderlyingError.tls(reason)))
        case .authentication(let head):
            return make(.userAuthenticationRequired, response(head.status))
        case .refused(let head):
            return make(.cannotConnectToHost, response(head.status))
        case .garbage(let reason):
            return make(.cannotConnectToHost, response(nil, UnderlyingError.wire(reason)))
        case .unsendable(let reason):
            return make(.cannotConnectToHost, connection(UnderlyingError.wire(reason)))
        case .closed(let cause):
            return make(
                .networkConnectionLost, cause.map(UnderlyingError.system) ?? UnderlyingError.closed(text))
        case .socks(let reason):
            return make(socksCode(reason), UnderlyingError.proxy(socksCause(reason, failure.proxy.kind), text))
        }
    }

    private static func tlsCode(_ failure: TLSError) -> URLError.Code {
        switch failure {
        case .clientCertificateRequired: .clientCertificateRequired
        case .clientCertificateRejected, .clientCertificateUnusable: .clientCertificateRejected
        case .truncated: .networkConnectionLost
        case .untrusted, .handshakeFailed, .alertReceived, .noCommonVersionOrCipher, .notTLS,
            .versionsContradict, .closedDuringHandshake, .alpnMismatch, .renegotiationRefused, .protocolViolation,
            .demandNotMet, .internalFailure:
            .secureConnectionFailed
        }
    }

    /// B13.27, B17.25: where there are no credentials that are of use, the error asks for them.
    private static func socksCode(_ failure: SOCKSFailure) -> URLError.Code {
        failure.isAboutCredentials ? .userAuthenticationRequired : .cannotConnectToHost
    }

    private static func socksCause(_ failure: SOCKSFailure, _ kind: ProxyServer.Kind) -> CFNetworkErrors {
        let isOld = kind == .socks4 || kind == .socks4a
        return switch failure {
        case .rejected(91): .cfsocks4ErrorRequestFailed
        case .rejected: .cfsocks4ErrorUnknownStatusCode
        case .identUnreachable: .cfsocks4ErrorIdentdFailed
        case .identMismatch: .cfsocks4ErrorIdConflict
        case .reply: .cfsocks5ErrorBadState
        case .noAcceptableMethod: .cfsocks5ErrorNoAcceptableMethod
        case .badCredentials, .unsendableCredentials: .cfsocks5ErrorBadCredentials
        case .unsendableTarget: isOld ? .cfsocks4ErrorRequestFailed : .cfsocks5ErrorBadResponseAddr
        case .malformed: .cfsocksErrorUnsupportedServerVersion
        }
    }
}
