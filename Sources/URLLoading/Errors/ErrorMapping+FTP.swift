// What an FTP server's refusals are as `URLError`s (B2.47, B14.20, B14.21, B14.24): never a status code, and the same
// codes as for files where it is about one.

import Foundation
import URLLoadingPolicy

extension ErrorMapping {
    /// The public error for an FTP server's refusal.
    static func ftpError(_ failure: FTPFailure, url: URL?) -> URLError {
        let text = ErrorText.naming(failure.description, hostOf: url)
        return LoadFailure.make(ftpCode(failure), url, text, underlying: UnderlyingError.ftp(failure))
    }

    /// The code for each refusal.
    static func ftpCode(_ failure: FTPFailure) -> URLError.Code {
        switch failure {
        case .malformedReply, .overlong: .cannotParseResponse
        case .malformedAddress, .refused: .badServerResponse
        case .unusablePath: .badURL
        case .unsendableCredential, .loginRefused, .accountRequired: .userAuthenticationRequired
        case .serviceUnavailable, .dataConnectionRefused: .cannotConnectToHost
        case .protectionRefused, .plaintextBeforeTLS: .secureConnectionFailed
        case .missing: .fileDoesNotExist
        case .isDirectory: .fileIsDirectory
        case .notPermitted: .noPermissionsToReadFile
        case .unavailable: .resourceUnavailable
        case .dataConnectionLost, .transferAborted, .truncated, .controlClosed: .networkConnectionLost
        }
    }
}

extension UnderlyingError {
    /// What CFNetwork says of an FTP server's reply.
    static func ftp(_ failure: FTPFailure) -> any Error {
        NSError(
            domain: kCFErrorDomainCFNetwork as String,
            code: Int(CFNetworkErrors.cfftpErrorUnexpectedStatusCode.rawValue),
            userInfo: [NSLocalizedDescriptionKey: failure.description])
    }
}
