// The errors under `NSUnderlyingErrorKey` (B17.3): the cause as the layer that met it saw it. A system call's is a
// `POSIXError`; those of the resolver, TLS, trust and HTTP have domains of their own, listed in
// `URLLoadingErrorDomain`.

import Foundation
import URLLoadingEngine
import URLLoadingSystem
import URLLoadingTLS
import URLLoadingTrust
import URLLoadingWire

/// Makes underlying errors.
enum UnderlyingError {
    /// The error of a system call.
    static func system(_ error: SystemError) -> any Error {
        guard let code = POSIXError.Code(rawValue: error.errno) else {
            return make(NSPOSIXErrorDomain, Int(error.errno), error.description)
        }
        return POSIXError(code, userInfo: [NSLocalizedDescriptionKey: error.description])
    }

    /// The resolver's failure, with its `EAI_…` code; what the program's resolver has thrown.
    static func resolver(_ failure: ResolverFailure) -> any Error {
        failure.cause
            ?? make(URLLoadingErrorDomain.resolver, Int(failure.code), "\(failure)")
    }

    /// A failure of TLS.
    static func tls(_ failure: TLSError) -> any Error {
        let code: URLLoadingErrorDomain.TLSCode =
            switch failure {
            case .handshakeFailed: .handshakeFailed
            case .alertReceived: .alertReceived
            case .untrusted: .untrusted
            case .noCommonVersionOrCipher: .noCommonVersionOrCipher
            case .notTLS: .notTLS
            case .versionsContradict: .versionsContradict
            case .closedDuringHandshake: .closedDuringHandshake
            case .alpnMismatch: .protocolMismatch
            case .truncated: .truncated
            case .clientCertificateRequired: .clientCertificateRequired
            case .clientCertificateRejected, .clientCertificateUnusable: .clientCertificateRejected
            case .renegotiationRefused: .renegotiationRefused
            case .protocolViolation: .protocolViolation
            case .internalFailure: .internalFailure
            case .demandNotMet: .demandNotMet
            }
        return make(URLLoadingErrorDomain.tls, code.rawValue, failure.description)
    }

    /// A refused certificate.
    static func trust(_ failure: TrustFailure) -> any Error {
        let code: URLLoadingErrorDomain.TrustCode =
            switch failure.reason {
            case .noRootsFound: .noRootsFound
            case .unknownRoot: .unknownRoot
            case .selfSigned: .selfSigned
            case .expired: .expired
            case .notYetValid: .notYetValid
            case .hostMismatch: .hostMismatch
            case .wrongPurpose: .wrongPurpose
            case .weakKey: .weakKey
            case .weakSignature: .weakSignature
            case .notACertificateAuthority: .notACertificateAuthority
            case .pathLength: .pathLength
            case .unknownCriticalExtension: .unknownCriticalExtension
            case .nameConstraint: .nameConstraint
            case .signatureInvalid: .signatureInvalid
            case .malformed: .malformed
            case .revoked: .revoked
            case .revocationUnknown: .revocationUnknown
            case .knownHostChanged: .knownHostChanged
            case .pinMismatch: .pinMismatch
            case .other: .other
            }
        return make(URLLoadingErrorDomain.trust, code.rawValue, failure.description)
    }

    /// A message that could not be understood, or not be sent.
    static func wire(_ failure: WireError) -> any Error {
        let code: URLLoadingErrorDomain.HTTPCode =
            switch failure.kind {
            case .malformedResponse: .malformedResponse
            case .truncated: .truncated
            case .badResponse: .badResponse
            case .undecodableContent: .undecodableContent
            case .invalidRequest: .invalidRequest
            }
        return message(code, failure.description)
    }

    /// What was wrong with a stream of HTTP/2, or its end.
    static func http2(_ failure: HTTP2Failure) -> any Error {
        switch failure {
        case .connection(let fault) where fault.reason == .notHTTP2: message(.malformedResponse, failure.description)
        case .reset, .connection: message(.connectionClosed, failure.description)
        case .malformed: message(.malformedResponse, failure.description)
        }
    }

    /// A connection that ended without an error of the system's: the server closed it, or spoke before it was asked.
    static func closed(_ description: String) -> any Error {
        message(.connectionClosed, description)
    }

    /// Something that is wrong with a message, or its end.
    static func message(_ code: URLLoadingErrorDomain.HTTPCode, _ description: String) -> any Error {
        make(URLLoadingErrorDomain.http, code.rawValue, description)
    }

    /// Marks what comes of a setting that can never be carried out (B10.39).
    static let settingKey = "URLLoading.UnusableSetting"

    /// What CFNetwork says of a proxy, with the cause below it (B13.17, B13.18, B13.27). `isSetting`: another time
    /// cannot change it.
    static func proxy(
        _ code: CFNetworkErrors, _ description: String, status: Int? = nil, cause: (any Error)? = nil,
        isSetting: Bool = false
    ) -> any Error {
        var userInfo: [String: Any] = [NSLocalizedDescriptionKey: description]
        if isSetting { userInfo[settingKey] = true }
        if let status { userInfo[URLLoadingErrorDomain.proxyStatusKey] = status }
        if let cause { userInfo[NSUnderlyingErrorKey] = cause }
        return NSError(domain: kCFErrorDomainCFNetwork as String, code: Int(code.rawValue), userInfo: userInfo)
    }

    /// B13.18: by the scheme of what is loaded.
    static func connectionToProxy(for url: URL?) -> CFNetworkErrors {
        url?.scheme?.lowercased() == "http" ? .cfErrorHTTPProxyConnectionFailure : .cfErrorHTTPSProxyConnectionFailure
    }

    private static func make(_ domain: String, _ code: Int, _ description: String) -> NSError {
        NSError(domain: domain, code: code, userInfo: [NSLocalizedDescriptionKey: description])
    }
}
