// How an error becomes a number for scripts. The numbers are those that users of curl know.

import Foundation
import URLLoading

/// What the command ends with.
enum ExitCode: Int32, CaseIterable {
    case success = 0
    case usage = 1
    case badURL = 3
    case hostNotFound = 6
    case cannotConnect = 7
    case badResponse = 8
    case connectionLost = 18
    case errorStatus = 22
    case cannotWrite = 23
    case timedOut = 28
    case tlsFailed = 35
    case tooManyRedirects = 47
    case untrusted = 60
    case cannotDecode = 61
    case badAnchorFile = 77
    case proxyFailed = 97
    case other = 70

    init(_ error: URLError) {
        let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError
        let isOfProxy = cause?.domain == kCFErrorDomainCFNetwork as String
        switch error.code {
        // A proxy that cannot be reached is like a server that cannot.
        case .cannotConnectToHost where isOfProxy && !Self.isUnreachable(cause), .userAuthenticationRequired:
            self = .proxyFailed
        case .badURL, .unsupportedURL: self = .badURL
        case .cannotFindHost, .dnsLookupFailed: self = .hostNotFound
        case .cannotConnectToHost, .notConnectedToInternet: self = .cannotConnect
        case .cannotParseResponse, .badServerResponse: self = .badResponse
        case .networkConnectionLost: self = .connectionLost
        case .timedOut: self = .timedOut
        case .httpTooManyRedirects: self = .tooManyRedirects
        case .secureConnectionFailed, .clientCertificateRejected, .clientCertificateRequired: self = .tlsFailed
        case .serverCertificateUntrusted, .serverCertificateHasBadDate, .serverCertificateHasUnknownRoot,
            .serverCertificateNotYetValid:
            self = .untrusted
        case .cannotDecodeRawData, .cannotDecodeContentData: self = .cannotDecode
        default: self = .other
        }
    }

    private static func isUnreachable(_ cause: NSError?) -> Bool {
        let codes: [CFNetworkErrors] = [.cfErrorHTTPProxyConnectionFailure, .cfErrorHTTPSProxyConnectionFailure]
        return codes.contains { cause?.code == Int($0.rawValue) }
    }

    /// What the help says about it.
    var meaning: String {
        switch self {
        case .success: "the body has been written, whatever the status"
        case .usage: "the command line is not understood"
        case .badURL: "the URL cannot be used"
        case .hostNotFound: "the host's name has no address"
        case .cannotConnect: "nothing answers at the host's addresses"
        case .badResponse: "the answer is not HTTP/1.1"
        case .connectionLost: "the connection ended before the answer did"
        case .errorStatus: "with --fail: the status is 400 or above"
        case .cannotWrite: "standard output cannot be written"
        case .timedOut: "it took too long"
        case .tlsFailed: "TLS could not be agreed upon"
        case .tooManyRedirects: "more redirects than anybody needs"
        case .untrusted: "the server's certificate is not trusted"
        case .cannotDecode: "the body's compression is broken"
        case .badAnchorFile: "the file of --cacert cannot be read"
        case .proxyFailed: "the proxy did not open the way"
        case .other: "anything else"
        }
    }
}
