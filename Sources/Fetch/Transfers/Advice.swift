// What to do about what went wrong: the second line of a complaint, in the words of the command's options. Pure.

import Foundation
import URLLoading

/// Says what may help.
package enum Advice {
    /// What may help against an error of the library's that ends with this code, where these options were given; nil
    /// where there is no advice. `hasAnswer` where a head had come before it.
    package static func about(
        _ code: ExitCode, _ error: URLError?, _ options: Options? = nil, hasAnswer: Bool = false
    ) -> String? {
        let url = error?.failingURL
        let isPlain = url?.scheme?.lowercased() == "http"
        return switch code {
        case .unusableScheme: "these schemes are known: http, https, ws, wss, ftp, ftps, file, data"
        case .badURL: "a URL looks like https://example.com/path; put it into quotes if it has & or spaces"
        case .hostNotFound: "is the name spelled right, and is this machine on a network?"
        case .cannotConnect where error?.code == .notConnectedToInternet: "is this machine on a network?"
        case .cannotConnect: connecting(error, options)
        case .badResponse: answer(error, isPlain: isPlain)
        case .noAnswer: isPlain ? serverOfHTTPS : nil
        // A web socket is neither tried again nor gone on with.
        case .connectionLost where url?.isWebSocket == true, .connectionFailed where url?.isWebSocket == true: nil
        case .connectionFailed where isPlain && !hasAnswer: "\(serverOfHTTPS); --retry 3 tries again"
        case .connectionLost, .connectionFailed:
            options?.targets.contains(where: \.isIntoFile) == true
                ? "--retry 3 tries again; -C - goes on with a file where it broke off" : "--retry 3 tries again"
        case .timedOut: "--max-time, --connect-timeout and --timeout say how long it may take; --retry 3 tries again"
        case .tooManyRedirects: redirects(options)
        case .tlsFailed: tls(error, options)
        case .untrusted: trust(error)
        case .pinMismatch:
            "--tls shows the keys that the server has; if you were not told of a new one, trust none of them"
        case .loginRefused: options?.login == nil ? "-u NAME says who we are" : nil
        case .proxyFailed: "-U NAME says who we are to the proxy; -x '' goes without one"
        case .cannotDecode:
            options?.acceptsCompression == true ? "without --compressed the server may send it as it is" : nil
        default: nil
        }
    }

    private static let serverOfHTTPS = "is it a server of https? then the URL begins with https://"

    private static func connecting(_ error: URLError?, _ options: Options?) -> String? {
        let cause = cause(of: error)
        // What an FTP server says of itself needs no advice.
        if cause?.domain == kCFErrorDomainCFNetwork as String,
            cause?.code == Int(CFNetworkErrors.cfftpErrorUnexpectedStatusCode.rawValue)
        {
            return nil
        }
        // Under the failure of a SOCKS proxy is the system's error, so that its text alone names the proxy.
        if cause?.domain == kCFErrorDomainCFNetwork as String
            || error?.localizedDescription.contains("the proxy ") == true
        {
            return "is the proxy right? -x names another one, -x '' goes without"
        }
        if let options, options.interface != nil || options.localAddress != nil || options.socketPath != nil {
            return nil
        }
        return "does the server run, and at this port? http is at 80 and https at 443 unless the URL says another one"
    }

    /// By the text of the cause: its code is that of all answers that cannot be read.
    private static func answer(_ error: URLError?, isPlain: Bool) -> String? {
        let text = cause(of: error)?.localizedDescription ?? ""
        if text.contains("does not begin as HTTP/2 does") {
            return "does the server speak HTTP/1.1? then leave --http2-prior-knowledge out"
        }
        guard isPlain, text.contains("does not start with HTTP/") || text.contains("answers in TLS") else { return nil }
        return serverOfHTTPS
    }

    private static func cause(of error: URLError?) -> NSError? {
        (error?.userInfo[NSUnderlyingErrorKey] as? any Error).map { $0 as NSError }
    }

    private static func redirects(_ options: Options?) -> String {
        let cookie = "a server that goes in circles may wait for its cookie: -c jar -b jar"
        guard let limit = options?.maximumRedirects, limit < 20 else { return "\(cookie); -v shows where it leads" }
        return "--max-redirs N follows more, up to 20; \(cookie)"
    }

    private static func tls(_ error: URLError?, _ options: Options?) -> String? {
        switch error?.code {
        case .clientCertificateRequired: return "-E FILE shows a certificate of yours"
        case .clientCertificateRejected: return "-E FILE shows another certificate of yours"
        default: break
        }
        let cause = cause(of: error)
        guard cause?.domain == URLLoadingErrorDomain.tls else { return nil }
        switch cause.flatMap({ URLLoadingErrorDomain.TLSCode(rawValue: $0.code) }) {
        case .notTLS: return "is it a server of http? then the URL begins with http://"
        case .noCommonVersionOrCipher where options?.lowestTLS != nil || options?.highestTLS != nil:
            return "does the server speak a version that --tlsv… and --tls-max leave?"
        case .noCommonVersionOrCipher:
            return "a server that is too old may speak TLS below 1.2: --tlsv1.0 lets it, and is not safe"
        default: return nil
        }
    }

    private static func trust(_ error: URLError?) -> String {
        switch error?.code {
        case .serverCertificateHasBadDate, .serverCertificateNotYetValid:
            return "is the clock of this machine right? --tls shows the dates"
        default: break
        }
        let cause = cause(of: error)
        switch cause.flatMap({ URLLoadingErrorDomain.TrustCode(rawValue: $0.code) }) {
        case .hostMismatch:
            return "--tls shows for which names it is; --resolve reaches this server under one of them"
        case .expired, .notYetValid: return "is the clock of this machine right? --tls shows the dates"
        default:
            return "--cacert FILE trusts its authority, --tls shows the certificates, --insecure accepts whatever comes"
        }
    }

    /// What may help against a status, where these options were given.
    package static func about(status: Int, _ options: Options) -> String? {
        switch status {
        case 401 where options.login != nil: "the server does not take this name and password; -v shows who asks"
        case 401 where options.bearerToken != nil: "the server does not take this token; -v shows who asks"
        case 401: "-u NAME says who we are, --oauth2-bearer TOKEN shows a token"
        case 403: "the server refuses this request: is the login or the token the right one?"
        case 404, 410: "is the path spelled right?"
        case 405: "another method may be meant: -X says which"
        case 407: "-U NAME says who we are to the proxy"
        case 408, 429, 502, 503, 504: "--retry 3 waits and tries again"
        case 415: "-H 'Content-Type: …' says what the body is"
        default: nil
        }
    }
}
