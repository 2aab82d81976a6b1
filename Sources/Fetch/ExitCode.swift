// How what went wrong becomes a number for scripts. The numbers are those that users of curl know, where curl has one.

import Foundation
import URLLoading

/// What the command ends with.
package enum ExitCode: Int32, CaseIterable, Sendable {
    case success = 0
    case unusableScheme = 1
    case usage = 2
    case badURL = 3
    case hostNotFound = 6
    case cannotConnect = 7
    case badResponse = 8
    case connectionLost = 18
    case errorStatus = 22
    case cannotWrite = 23
    case cannotRead = 26
    case timedOut = 28
    case tlsFailed = 35
    case cannotResume = 36
    case cannotReadFileURL = 37
    case tooManyRedirects = 47
    case noAnswer = 52
    case connectionFailed = 56
    case badIdentity = 58
    case untrusted = 60
    case cannotDecode = 61
    case tooLarge = 63
    case loginRefused = 67
    case other = 70
    case badAnchorFile = 77
    case missingOnServer = 78
    case pinMismatch = 90
    case proxyFailed = 97
    case interrupted = 130

    /// What an error of the library's becomes; `hasAnswer` where a head had come before it.
    init(_ error: URLError, hasAnswer: Bool = false) {
        let cause = (error.userInfo[NSUnderlyingErrorKey] as? any Error).map { $0 as NSError }
        // What CFNetwork has a word for is the proxy's, or a reply of an FTP server's.
        let isOfCFNetwork = cause?.domain == kCFErrorDomainCFNetwork as String
        let isOfFTP =
            isOfCFNetwork && cause?.code == Int(CFNetworkErrors.cfftpErrorUnexpectedStatusCode.rawValue)
        let isOfProxy = isOfCFNetwork && !isOfFTP
        switch error.code {
        // A proxy that cannot be reached is like a server that cannot.
        case .cannotConnectToHost where isOfProxy && !Self.isUnreachable(cause): self = .proxyFailed
        case .userAuthenticationRequired: self = isOfProxy ? .proxyFailed : .loginRefused
        case .badURL: self = .badURL
        case .unsupportedURL: self = .unusableScheme
        case .cannotFindHost, .dnsLookupFailed: self = .hostNotFound
        // A name service that cannot be reached; to curl that is the same.
        case .notConnectedToInternet where cause?.domain == URLLoadingErrorDomain.resolver: self = .hostNotFound
        case .cannotConnectToHost, .notConnectedToInternet: self = .cannotConnect
        case .cannotParseResponse, .badServerResponse: self = .badResponse
        case .networkConnectionLost where Self.isNoAnswer(cause): self = .badResponse
        case .networkConnectionLost where cause?.domain == NSPOSIXErrorDomain: self = .connectionFailed
        case .networkConnectionLost: self = hasAnswer ? .connectionLost : .noAnswer
        case .timedOut: self = .timedOut
        case .httpTooManyRedirects: self = .tooManyRedirects
        case .secureConnectionFailed, .clientCertificateRejected, .clientCertificateRequired: self = .tlsFailed
        case .serverCertificateUntrusted, .serverCertificateHasBadDate, .serverCertificateHasUnknownRoot,
            .serverCertificateNotYetValid:
            self = Self.isPinMismatch(cause) ? .pinMismatch : .untrusted
        case .cannotDecodeRawData, .cannotDecodeContentData: self = .cannotDecode
        case .fileDoesNotExist where isOfFTP, .fileIsDirectory where isOfFTP: self = .missingOnServer
        case .noPermissionsToReadFile where isOfFTP: self = .other
        case .fileDoesNotExist, .fileIsDirectory, .noPermissionsToReadFile, .cannotOpenFile:
            // With any other URL the file is the one to be sent.
            self = error.failingURL?.scheme?.lowercased() == "file" ? .cannotReadFileURL : .cannotRead
        default: self = .other
        }
    }

    private static func isUnreachable(_ cause: NSError?) -> Bool {
        let codes: [CFNetworkErrors] = [.cfErrorHTTPProxyConnectionFailure, .cfErrorHTTPSProxyConnectionFailure]
        return codes.contains { cause?.code == Int($0.rawValue) }
    }

    /// Whether the connection was given up because what came on it was no answer.
    private static func isNoAnswer(_ cause: NSError?) -> Bool {
        cause?.domain == URLLoadingErrorDomain.http
            && cause?.code == URLLoadingErrorDomain.HTTPCode.malformedResponse.rawValue
    }

    private static func isPinMismatch(_ cause: NSError?) -> Bool {
        cause?.domain == URLLoadingErrorDomain.trust
            && cause?.code == URLLoadingErrorDomain.TrustCode.pinMismatch.rawValue
    }

    /// What the manual says about it.
    package var meaning: String {
        switch self {
        case .success: "everything was done, whatever the status"
        case .unusableScheme: "the URL's scheme is not known, or not allowed"
        case .usage: "the command line is not understood"
        case .badURL: "the URL cannot be used"
        case .hostNotFound: "the host's name has no address"
        case .cannotConnect: "nothing answers at the host's addresses"
        case .badResponse: "the answer is not HTTP, or not the version of it that was asked for"
        case .connectionLost: "the connection ended before the answer did"
        case .errorStatus: "with --fail or --fail-with-body: the status is 400 or above"
        case .cannotWrite: "the output cannot be written"
        case .cannotRead: "a file to be sent, of cookies or of passwords, cannot be read"
        case .timedOut: "it took too long"
        case .tlsFailed: "TLS could not be agreed upon"
        case .cannotResume: "--continue-at cannot go on; the message says why"
        case .cannotReadFileURL: "the file of a file URL cannot be read"
        case .tooManyRedirects: "more redirects than --max-redirs, or than any site needs"
        case .noAnswer: "the server ended the connection without an answer"
        case .connectionFailed: "the connection was reset"
        case .badIdentity: "the files of --cert and --key cannot be used"
        case .untrusted: "the server's certificate is not trusted"
        case .cannotDecode: "the body's compression is broken"
        case .tooLarge: "the body has more bytes than --max-filesize allows"
        case .loginRefused: "the server refuses the login, or it cannot be sent"
        case .other: "anything else"
        case .badAnchorFile: "the file of --cacert cannot be read"
        case .missingOnServer: "the FTP server has no such file"
        case .pinMismatch: "the server has another key than those of --pinnedpubkey"
        case .proxyFailed: "the proxy did not open the way"
        case .interrupted: "interrupted by the user"
        }
    }
}

/// What ends a transfer, or the run.
struct FetchError: Error {
    let code: ExitCode
    /// One sentence, without a capital and without a full stop.
    let message: String
    /// What could be done about it.
    var advice: String?
    /// Whether the user need not be told.
    var isExpected = false
    /// What the library has failed with, if it was that.
    private(set) var cause: URLError?

    init(_ code: ExitCode, _ message: String, advice: String? = nil) {
        self.code = code
        self.message = message
        self.advice = advice
    }

    /// What the library reports; `hasAnswer` where a head had come before it. The options say what may help.
    init(_ error: any Error, hasAnswer: Bool = false, _ options: Options? = nil) {
        let underlying = (error as NSError).userInfo[NSUnderlyingErrorKey]
        if let failure = underlying as? URLRequest.MultipartForm.FileError {
            self.init(file: failure)
            return
        }
        if let failure = underlying as? InputFile.Unreadable {
            self.init(.cannotRead, "standard input cannot be read: \(failure.reason)")
            return
        }
        let text = error as NSError
        let code = (error as? URLError).map { ExitCode($0, hasAnswer: hasAnswer) } ?? .other
        self.init(
            code, text.localizedDescription,
            advice: Advice.about(code, error as? URLError, options, hasAnswer: hasAnswer)
                ?? text.localizedRecoverySuggestion)
        cause = error as? URLError
    }

    /// Standard output cannot be written. A reader that has seen enough, as `head` has, is no reason to complain.
    static func output(_ number: Int32) -> FetchError {
        var failure = writing("standard output", number)
        failure.isExpected = number == EPIPE
        return failure
    }

    /// Something cannot be written, or its reader has taken nothing while that was waited for.
    static func writing(_ name: String, _ number: Int32, advice: String? = nil) -> FetchError {
        switch number {
        case ECANCELED: FetchError(.interrupted, "interrupted")
        case ETIMEDOUT: FetchError(.timedOut, "\(name) was not read in time")
        default: FetchError(.cannotWrite, "\(name) cannot be written: \(system(number))", advice: advice)
        }
    }

    /// The reason that the system gives for its last failure.
    static func system(_ number: Int32) -> String { String(cString: strerror(number)) }
}
