// The one place where the engine's errors become `URLError`s (behaviour 3.6 and chapter 17). The code is Apple's, the
// underlying error tells apart what one code covers, and the description is a sentence a person can act on.

import Foundation
import URLLoadingEngine
import URLLoadingSystem
import URLLoadingTLS
import URLLoadingTrust
import URLLoadingWire

/// Maps the errors of the layers below.
package enum ErrorMapping {
    /// The public error for the request to `url`; `evaluator` is the one that has judged the server.
    package static func urlError(
        _ error: EngineError, url: URL?, evaluator: any TrustEvaluator = SecTrust.system,
        ofDownload isDownload: Bool = false
    ) -> URLError {
        /// The text with the host, for errors that do not know it.
        var textWithHost: String { ErrorText.naming(error.description, hostOf: url) }
        switch error {
        case .cancelled:
            return LoadFailure.cancelled(url)
        case .idleTimeout, .connectionTimeout:
            return LoadFailure.make(.timedOut, url, error.description)
        case .resourceTimeout(_, _, _, let lastAttempt):
            return LoadFailure.make(
                .timedOut, url, error.description,
                underlying: lastAttempt.map { urlError($0, url: url, evaluator: evaluator) })
        case .nameLookup(let failure):
            return LoadFailure.make(
                lookupCode(failure), url, error.description, underlying: UnderlyingError.resolver(failure))
        case .connect(_, let failures):
            let decisive = decisiveFailure(failures)
            return LoadFailure.make(
                connectCode(failures), url, error.description,
                underlying: decisive.map { UnderlyingError.system($0.error) })
        case .proxy(let failure):
            return proxyError(failure, url: url, evaluator)
        case .tls(let failure, let host):
            return tlsError(failure, host: host, description: error.description, url: url, evaluator)
        case .connectionLost(let cause, _, _, _):
            return LoadFailure.make(
                .networkConnectionLost, url, textWithHost,
                underlying: cause.map(UnderlyingError.system) ?? UnderlyingError.closed(error.description))
        case .wire(let failure):
            return LoadFailure.make(
                wireCode(failure, isDownload), url, textWithHost, underlying: UnderlyingError.wire(failure))
        case .http2(let failure):
            return LoadFailure.make(
                http2Code(failure), url, textWithHost, underlying: UnderlyingError.http2(failure))
        case .body(let failure):
            return bodyError(failure, url: url, description: textWithHost)
        case .invalidRequest(let failure):
            return LoadFailure.make(
                failure == .unsendableTarget ? .badURL : .unsupportedURL, url, textWithHost,
                underlying: UnderlyingError.wire(failure))
        case .undetachable:
            return LoadFailure.make(.unsupportedURL, url, textWithHost)
        case .ftp(let failure):
            return ftpError(failure, url: url)
        case .localResource(let failure):
            return LoadFailure.make(
                .cannotConnectToHost, url, error.description, underlying: UnderlyingError.system(failure))
        }
    }

    /// The public error for a file to upload that cannot be opened (B11.6, B17.33 to B17.35).
    package static func unreadableFile(_ file: URL, of url: URL?, _ error: SystemError) -> URLError {
        unreadable("The file to upload", file, of: url, error)
    }

    /// The public error for a file URL that cannot be loaded (B14.9, B17.33 to B17.35).
    package static func unreadableFile(_ file: URL, _ error: SystemError) -> URLError {
        unreadable("The file", file, of: file, error)
    }

    private static func unreadable(_ what: String, _ file: URL, of url: URL?, _ error: SystemError) -> URLError {
        let (code, problem): (URLError.Code, String) =
            switch error.errno {
            case ENOENT, ENOTDIR: (.fileDoesNotExist, "does not exist")
            case EISDIR: (.fileIsDirectory, "is a directory")
            case EACCES, EPERM: (.noPermissionsToReadFile, "may not be read")
            case EINVAL: (.cannotOpenFile, "is no regular file")
            default: (.cannotOpenFile, "cannot be opened (\(error.message))")
            }
        return LoadFailure.make(
            code, url, "\(what) \(problem): \(file.path)", underlying: UnderlyingError.system(error))
    }

    /// B5.29, B5.39, B11.7: a piece that goes across the announced length is not sent; whatever else is wrong with a
    /// body, it could not be supplied.
    private static func bodyError(_ failure: BodyFailure, url: URL?, description: String) -> URLError {
        switch failure {
        case .endedEarly: LoadFailure.bodyStreamExhausted(url, description)
        case .goesBeyond: LoadFailure.make(.dataLengthExceedsMaximum, url, description)
        case .unreadable(let error):
            LoadFailure.bodyStreamExhausted(url, description, underlying: UnderlyingError.system(error))
        case .source(let problem as BodyStreamProblem): LoadFailure.bodyStreamExhausted(url, problem.text)
        case .source(let problem as URLRequest.MultipartForm.FileError):
            LoadFailure.bodyStreamExhausted(url, problem.errorDescription ?? description, underlying: problem)
        case .source(let problem as URLRequest.AsyncBody.TrailerError):
            LoadFailure.bodyStreamExhausted(url, problem.errorDescription ?? description, underlying: problem)
        case .source(let error): LoadFailure.bodyStreamExhausted(url, description, underlying: error)
        }
    }

    // MARK: Names and connections

    /// B17.14, B17.17, B17.52.
    static func lookupCode(_ failure: ResolverFailure) -> URLError.Code {
        switch failure.reason {
        case .noSuchHost, .notAName: .cannotFindHost
        // B16.79: the program's resolver needs no network to fail.
        case .failed where failure.cause != nil: .dnsLookupFailed
        case .temporary, .failed: NetworkPresence.hasInterface ? .dnsLookupFailed : .notConnectedToInternet
        case .cancelled: .cancelled
        }
    }

    /// The failure that says most: one that reached the host before one that found no way (B16.11).
    static func decisiveFailure(_ failures: [EngineError.ConnectFailure]) -> EngineError.ConnectFailure? {
        failures.last { !hasNoWay($0.error) }
            // One that this machine has no address or no port for, where there is a way.
            ?? failures.last { !$0.error.isNoRoute && !$0.isWrongFamily }
            ?? failures.first { !$0.isWrongFamily } ?? failures.first
    }

    /// The code for connects that failed with these errors (B17.15, B17.20, B17.21): only when every address failed for
    /// want of a network is it the network's fault. Those of a family that cannot be used here do not count.
    package static func connectCode(_ failures: [EngineError.ConnectFailure]) -> URLError.Code {
        guard !failures.isEmpty else { return .cannotFindHost }
        let decisive = failures.filter { !$0.isWrongFamily }
        let isOffline = decisive.allSatisfy { failure in
            failure.error.isNoNetwork || failure.error.errno == EHOSTUNREACH && !NetworkPresence.hasInterface
        }
        return isOffline && !decisive.isEmpty ? .notConnectedToInternet : .cannotConnectToHost
    }

    private static func hasNoWay(_ error: SystemError) -> Bool {
        error.isNoRoute || error.errno == EADDRNOTAVAIL || error.errno == EAFNOSUPPORT
    }

    // MARK: TLS and trust

    private static func tlsError(
        _ failure: TLSError, host: String, description: String, url: URL?, _ evaluator: any TrustEvaluator
    ) -> URLError {
        switch failure {
        case .untrusted(let refusal):
            return trustError(
                refusal,
                "The certificate for this server is invalid: \(refusal.description) "
                    + "The server may be another one that pretends to be \"\(host)\".",
                host: host, url: url, evaluator)
        case .clientCertificateRequired:
            return LoadFailure.make(
                .clientCertificateRequired, url, description, underlying: UnderlyingError.tls(failure))
        case .clientCertificateRejected, .clientCertificateUnusable:
            return LoadFailure.make(
                .clientCertificateRejected, url, description, underlying: UnderlyingError.tls(failure))
        case .truncated:
            return LoadFailure.make(.networkConnectionLost, url, description, underlying: UnderlyingError.tls(failure))
        case .handshakeFailed, .alertReceived, .noCommonVersionOrCipher, .notTLS, .versionsContradict,
            .closedDuringHandshake, .alpnMismatch, .renegotiationRefused, .protocolViolation, .demandNotMet,
            .internalFailure:
            return LoadFailure.make(.secureConnectionFailed, url, description, underlying: UnderlyingError.tls(failure))
        }
    }

    /// The certificates of a server or a proxy were not trusted; the error shows them (B3.73).
    static func trustError(
        _ refusal: TrustFailure, _ text: String, host: String, url: URL?, _ evaluator: any TrustEvaluator
    ) -> URLError {
        // The files with the roots could not be opened, so nothing is known against the server.
        if let errno = refusal.shortage {
            return urlError(.localResource(SystemError(errno: errno, call: "open")), url: url)
        }
        let mistake = refusal.mistake.map {
            "The session's serverTrustEvaluation is mistaken, so it does not trust \"\(host)\": \($0)"
        }
        return LoadFailure.make(
            trustCode(refusal), url, mistake ?? text, underlying: UnderlyingError.trust(refusal),
            suggestion: suggestion(refusal, host: host),
            trust: refusal.presented.map { chain in
                SecTrust(presented: chain, policy: TrustPolicy(host: HostName(host)), evaluator: evaluator)
            })
    }

    /// B3.71: −1204 only when "not yet valid" is all that is wrong.
    package static func trustCode(_ failure: TrustFailure) -> URLError.Code {
        if case .notYetValid = failure.reason, failure.further.isEmpty { return .serverCertificateNotYetValid }
        return .serverCertificateUntrusted
    }

    /// What a person can do about it (B3.73).
    private static func suggestion(_ failure: TrustFailure, host: String) -> String {
        switch failure.reason {
        case _ where failure.mistake != nil:
            "Correct the session's serverTrustEvaluation; its property problem says what is wrong."
        case .noRootsFound:
            "Install the package ca-certificates, or name a file of trusted certificates in SSL_CERT_FILE."
        case .unknownRoot, .selfSigned:
            "If you run this server yourself, give its certificate or its authority's as an anchor of the session."
        case .expired:
            "Check this machine's clock; if it is right, the server's certificate must be renewed."
        case .notYetValid:
            "Check this machine's clock; if it is right, the server's certificate must be issued anew."
        case .hostMismatch:
            "Check the name in the URL; the server's certificate must name \"\(host)\"."
        case .knownHostChanged:
            "Ask the operator of \"\(host)\" whether its certificate was changed, then remove its known hosts' line."
        case .pinMismatch:
            "If you know of a new key of \"\(host)\", add its pin to serverTrustEvaluation; if not, do not connect."
        case .revoked:
            "Send nothing to \"\(host)\" until its operator has installed a new certificate."
        case .revocationUnknown:
            "Give the session a revocation list of the certificate's issuer, or check revocation with .soft."
        case .wrongPurpose, .weakKey, .weakSignature, .notACertificateAuthority, .pathLength,
            .unknownCriticalExtension, .nameConstraint, .signatureInvalid, .malformed, .other:
            "Ask the operator of \"\(host)\" to install a valid certificate."
        }
    }

    // MARK: HTTP

    /// B17.16, B17.23, B17.27, B17.29.
    private static func wireCode(_ failure: WireError, _ isDownload: Bool) -> URLError.Code {
        switch failure.kind {
        case .malformedResponse: .cannotParseResponse
        case .truncated: .networkConnectionLost
        case .badResponse: .badServerResponse
        case .undecodableContent: decodingCode(failure, isDownload)
        case .invalidRequest: .unsupportedURL
        }
    }

    /// H4.8, H7.4, H8.
    private static func http2Code(_ failure: HTTP2Failure) -> URLError.Code {
        switch failure {
        case .reset, .connection: .networkConnectionLost
        case .malformed(_, .switchingProtocols): .badServerResponse
        case .malformed: .cannotParseResponse
        }
    }

    /// B9.12: whether the fault lies in the content or only its end shows it.
    private static func decodingCode(_ failure: WireError, _ isDownload: Bool) -> URLError.Code {
        switch failure {
        case .decodedTooLong, .decodedTooMuch: .dataLengthExceedsMaximum
        case _ where !isDownload: .cannotDecodeRawData
        case .truncatedContent, .contentChecksumMismatch, .contentLengthMismatch: .downloadDecodingFailedToComplete
        default: .downloadDecodingFailedMidStream
        }
    }
}
