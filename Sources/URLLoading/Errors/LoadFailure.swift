// The errors that are found before or beside the engine. Every `URLError` of the library is made here or in
// `ErrorMapping`, always from `URLError.Code`: Foundation's Int constants for TLS are off by one on Linux.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy

/// Makes the errors that the API's own layer finds.
enum LoadFailure {
    /// An error with what every error carries: the failing URL under both keys (B17.2) and a text (B17.4); `trust` is
    /// what a server that was refused has presented (B3.73).
    // Measured: in line, it made the code of what every request does several times as long.
    @inline(never)
    static func make(
        _ code: URLError.Code, _ url: URL?, _ description: String, underlying: (any Error)? = nil,
        suggestion: String? = nil, trust: SecTrust? = nil
    ) -> URLError {
        var userInfo: [String: Any] = [NSLocalizedDescriptionKey: description]
        if let url {
            userInfo[NSURLErrorFailingURLErrorKey] = url
            userInfo[failingURLStringKey] = url.absoluteString
        }
        if let underlying { userInfo[NSUnderlyingErrorKey] = underlying }
        if let suggestion { userInfo[NSLocalizedRecoverySuggestionErrorKey] = suggestion }
        if let trust {
            userInfo[NSURLErrorFailingURLPeerTrustErrorKey] = trust
            userInfo[peerChainKey] = trust.presented.certificates.map(SecCertificate.init)
        }
        return URLError(code, userInfo: userInfo)
    }

    /// The key under which Apple's loader has the certificates that the server sent, which has no public name.
    private static let peerChainKey = "NSErrorPeerCertificateChainKey"

    /// The text of `NSURLErrorFailingURLStringErrorKey`, which Foundation on Linux calls deprecated.
    static let failingURLStringKey = "NSErrorFailingURLStringKey"

    /// The task was cancelled (B1.42).
    static func cancelled(_ url: URL?) -> URLError {
        make(.cancelled, url, "cancelled")
    }

    /// No host, or a port out of range (B17.11).
    static func badURL(_ url: URL, _ description: String) -> URLError {
        make(.badURL, url, description)
    }

    /// No URL, or one of a scheme or method that is not served (B17.13, B16.64).
    static func unsupportedURL(_ url: URL?, _ description: String) -> URLError {
        make(.unsupportedURL, url, description)
    }

    /// A task that was made with data of an earlier one, which say nothing.
    static var unreadableResumeData: URLError {
        unsupportedURL(nil, "The task has no request: its resume data cannot be read.")
    }

    /// A GET request with a body (B5.33).
    static func bodyOfGET(_ url: URL?) -> URLError {
        make(
            .dataLengthExceedsMaximum, url, "resource exceeds maximum size",
            suggestion: "A GET sends no body: set httpMethod to POST or PUT, or put the data into the URL's query.")
    }

    /// A load that only a cache may answer, and nothing is cached (B17.19).
    static func notCached(_ url: URL?) -> URLError {
        make(.resourceUnavailable, url, "The request may only be answered from a cache, and nothing is stored for it.")
    }

    /// A look-up that would have to be validated.
    static func cannotValidateDNSSEC(_ url: URL?, host: String) -> URLError {
        make(
            .dnsLookupFailed, url,
            "The address of \(host) must be validated with DNSSEC, which the system's resolver cannot prove.")
    }

    /// Plain http where the session demands TLS (B3.76, B17.32).
    static func insecure(_ url: URL?, host: String) -> URLError {
        make(
            .appTransportSecurityRequiresSecureConnection, url,
            "App Transport Security, which the session's configuration has, allows no plain http with \(host).",
            suggestion: "Use https, or make an exception for the host in the policy.")
    }

    /// A setting for the URL that names no proxy; going without one would send what was not meant to be seen.
    static func unusableProxy(_ url: URL?, _ fault: ProxyFault) -> URLError {
        make(
            .cannotConnectToHost, url, "There is no way to the server: \(fault)",
            underlying: UnderlyingError.proxy(
                UnderlyingError.connectionToProxy(for: url), "\(fault)", isSetting: true))
    }

    /// A script would have to say which proxy to use (B13.30), or the resolver that is asked in its place has failed
    /// (B13.31). `isSetting`: another time cannot change it.
    static func noWay(
        _ url: URL?, _ description: String, cause: (any Error)? = nil, isSetting: Bool = false
    ) -> URLError {
        make(
            .cannotConnectToHost, url, description,
            underlying: UnderlyingError.proxy(.cfErrorPACFileError, description, cause: cause, isSetting: isSetting))
    }

    /// A local address that is none.
    static func unusableLocalAddress(_ url: URL?, _ text: String) -> URLError {
        make(.cannotConnectToHost, url, "The configuration's localAddress \"\(text)\" is no numeric address.")
    }

    /// More than 20 redirects; the URL is the last that was loaded, whose redirect to `next` is not followed (B4.14).
    static func tooManyRedirects(_ url: URL?, to next: URL?) -> URLError {
        let end = next?.host().map { "; the last led to \($0)" } ?? ""
        let limit = RedirectRules.maximumRedirects
        return make(.httpTooManyRedirects, url, "too many HTTP redirects: more than \(limit)\(end)")
    }

    /// The file of a download cannot be written in this folder (B9.11).
    static func unwritableFile(_ url: URL?, in folder: String, _ failure: FileFailure) -> URLError {
        let lacksRoom = [ENOSPC, EDQUOT].contains(failure.error.errno)
        let (code, what): (URLError.Code, String) =
            switch failure.step {
            case .create: (.cannotCreateFile, "made")
            case .write: (.cannotWriteToFile, "written")
            case .close: (.cannotCloseFile, "closed")
            case .move: (.cannotMoveFile, "moved")
            }
        let problem = lacksRoom ? "There is no room for the download" : "The file for the download could not be \(what)"
        return make(
            code, url, "\(problem) in \(folder): \(failure.error.message)",
            underlying: UnderlyingError.system(failure.error))
    }

    /// What a program's own carrier has failed with, as programs see it: an `NSError` of `NSURLErrorDomain` is the
    /// `URLError` that it stands for, as a cast would make it on Apple's platforms. Errors of other types, and codes
    /// without a name, stay what they are.
    static func naming(_ error: any Error) -> any Error {
        guard type(of: error) == NSError.self, case let plain = error as NSError, plain.domain == NSURLErrorDomain,
            let code = URLError.Code(rawValue: plain.code)
        else { return error }
        return URLError(code, userInfo: plain.userInfo)
    }

    /// A copy of an error that has the data with which the download can be resumed (B17.7).
    static func adding(_ resumeData: Data, to error: URLError) -> URLError {
        var userInfo = error.userInfo
        userInfo[NSURLSessionDownloadTaskResumeData] = resumeData
        return URLError(error.code, userInfo: userInfo)
    }

    /// A body stream that has been read and would be needed once more (B4.12).
    static func bodyStreamExhausted(_ url: URL?, _ description: String, underlying: (any Error)? = nil) -> URLError {
        make(.requestBodyStreamExhausted, url, description, underlying: underlying)
    }
}
