// One FTP transfer as its machine sees it: what is wanted, what is done about it, and what is known when data begins to
// flow.

/// What an FTP transfer is to do.
package struct FTPJob: Sendable {
    /// Which way the data goes.
    package enum Purpose: Sendable, Hashable {
        /// From the server: a file, or the list of a directory.
        case retrieve
        /// From the server, from the byte on where an earlier transfer ended, if the file is still the same.
        case resume(from: Int64, of: FTPFileState)
        /// To the server (B14.25).
        case store
    }

    /// Where on the server.
    package var path: FTPPath
    /// Which way.
    package var purpose: Purpose
    /// The credential of the URL; nil asks for one (B14.21).
    package var credential: PasswordCredential?
    /// Whether both connections are protected by TLS (RFC 4217).
    package var isProtected: Bool
    /// Whether the file's date is asked for, by which a later transfer can tell whether it is still the same.
    package var asksDate: Bool

    /// Makes a job of its parts.
    package init(
        path: FTPPath, purpose: Purpose = .retrieve, credential: PasswordCredential? = nil, isProtected: Bool = false,
        asksDate: Bool = false
    ) {
        self.path = path
        self.purpose = purpose
        self.credential = credential
        self.isProtected = isProtected
        self.asksDate = asksDate
    }
}

/// By what a file is taken for the same as before: FTP has no better.
package struct FTPFileState: Sendable, Hashable {
    /// How long it was (SIZE).
    package let size: Int64
    /// When it was changed, as the server says it (MDTM, RFC 3659 §3).
    package let date: String

    /// Makes it of what was known before.
    package init(size: Int64, date: String) {
        self.size = size
        self.date = date
    }

    /// Whether this can be a date of RFC 3659 §2.3: fourteen digits, perhaps with a fraction.
    package static func isDate(_ text: some Collection<UInt8>) -> Bool {
        (14...32).contains(text.count) && text.allSatisfy { ASCII.isDigit($0) || $0 == UInt8(ascii: ".") }
    }
}

/// What is known when the data begins to flow.
package struct FTPHead: Sendable, Hashable {
    /// What flows.
    package enum Content: Sendable, Hashable {
        case file
        case listing
        /// Nothing comes: it goes to the server.
        case nothing
    }

    /// What flows.
    package let content: Content
    /// The first byte that comes; above zero only where a resumption was granted.
    package let offset: Int64
    /// How long the whole file is, where the server says so.
    package let size: Int64?
    /// What it can be recognised by later.
    package let state: FTPFileState?

    /// Makes a head of its parts.
    package init(content: Content, offset: Int64 = 0, size: Int64? = nil, state: FTPFileState? = nil) {
        self.content = content
        self.offset = offset
        self.size = size
        self.state = state
    }
}

/// What a driver of `FTPMachine` is to do.
package enum FTPAction: Sendable, Hashable {
    /// Send this on the control connection.
    case send(FTPCommand)
    /// Begin TLS on the control connection; nothing may have come behind the last reply. Then `secured()`.
    case secure
    /// Ask for a user name and a password, so many having been refused; then `credentialAnswered`.
    case askForCredential(refusals: Int)
    /// Open a new control connection: the last one has ended.
    case connectAgain
    /// Connect to this port of the server; then `dataOpened()` or `dataUnreachable()`.
    case openData(port: Int)
    /// The data connection carries data from now on, within TLS if the job is protected; then
    /// `dataEnded` or `dataLost`.
    case transfer(FTPHead)
    /// All is well.
    case finish
    /// Nothing will come of it.
    case fail(FTPFailure)
}
