// What an FTP server can say instead of yes, and what can be wrong with what it says. No server's text and no
// secret is in it.

/// Why an FTP transfer came to nothing.
package enum FTPFailure: Error, Sendable, Hashable {
    /// What is wrong with bytes that should have been a reply.
    package enum Malformation: Error, Sendable, Hashable {
        /// It does not begin with a number.
        case noReply
        /// A line does not end.
        case lineTooLong
        /// A reply does not end.
        case tooManyLines
    }

    /// What the server says is no reply.
    case malformedReply(Malformation)
    /// The reply to EPSV or PASV names no port that can be connected to.
    case malformedAddress
    /// The URL's path cannot be sent (B14.23).
    case unusablePath
    /// A user name or a password cannot be sent: there is a line end in it.
    case unsendableCredential
    /// 421: the server closes its doors.
    case serviceUnavailable
    /// User name or password were refused (B14.21).
    case loginRefused(code: Int)
    /// The server wants an account besides the password (ACCT), which URLs and credentials do not have.
    case accountRequired
    /// The server does not protect connections by TLS.
    case protectionRefused(code: Int)
    /// The server said more than its answer to AUTH TLS before TLS began (RFC 4217 §15.1.1, the
    /// injection of plaintext).
    case plaintextBeforeTLS
    /// There is no such file or directory.
    case missing
    /// The path of a file is a directory (B14.24).
    case isDirectory
    /// The server does not allow it.
    case notPermitted(code: Int)
    /// The file cannot be had at present, or there is no room for it.
    case unavailable(code: Int)
    /// The server could not open the data connection (425).
    case dataConnectionRefused
    /// The data connection broke.
    case dataConnectionLost
    /// The server gave the transfer up (426, 451).
    case transferAborted(code: Int)
    /// The data ended before the length that the server had announced.
    case truncated(received: Int64, expected: Int64)
    /// The rest of a file is longer than what was missing of it.
    case overlong(received: Int64, expected: Int64)
    /// The server closed the control connection before it had said how the transfer ended.
    case controlClosed
    /// An answer to this command that makes no sense, or a refusal of what every server has to do.
    case refused(verb: String, code: Int)
}

extension FTPFailure: CustomStringConvertible {
    /// A sentence for a person.
    package var description: String {
        switch self {
        case .malformedReply(.noReply): "The server said something that is no reply of an FTP server."
        case .malformedReply(.lineTooLong): "The server sent a line without an end."
        case .malformedReply(.tooManyLines): "The server sent a reply without an end."
        case .malformedAddress: "The server named no port for the data connection."
        case .unusablePath: "The path cannot be sent to an FTP server."
        case .unsendableCredential: "The user name or the password cannot be sent to an FTP server."
        case .serviceUnavailable: "The server is not available (reply 421)."
        case .loginRefused(let code): "The server refused the user name or the password (reply \(code))."
        case .accountRequired: "The server wants an account besides the password, which FTP URLs do not have."
        case .protectionRefused(let code): "The server does not protect the connection by TLS (reply \(code))."
        case .plaintextBeforeTLS: "The server sent unprotected data where TLS should have begun."
        case .missing: "There is no such file on the server."
        case .isDirectory: "The path is that of a directory."
        case .notPermitted(let code): "The server does not allow it (reply \(code))."
        case .unavailable(let code): "The server cannot do it at present (reply \(code))."
        case .dataConnectionRefused: "The server could not open the data connection (reply 425)."
        case .dataConnectionLost: "The data connection broke."
        case .transferAborted(let code): "The server gave the transfer up (reply \(code))."
        case .truncated(let received, let expected): "The data ended after \(received) of \(expected) bytes."
        case .overlong(let received, let expected):
            "The rest of the file has \(received) bytes instead of \(expected)."
        case .controlClosed: "The server closed the connection."
        case .refused(let verb, let code): "The server answered \(verb) with \(code)."
        }
    }
}
