// One FTP transfer, as events in and actions out: the login, where the file is, how it is transferred, and whether all
// of it has come. RFC 959, RFC 2428 (EPSV), RFC 3659 (SIZE, MDTM, REST), RFC 4217 (TLS), RFC 1738 §3.2 for the order of
// the commands; B14.20 to B14.26.
//
// A transfer has succeeded when its data has ended, the server has said so (226 or 250), and nothing of the announced
// length is missing; a rest has the announced length to the byte. Everything else is a failure, never a short success.
//
// Must not know: sockets, TLS, time, URLs, where credentials are from.

/// Decides what is said on the control connection of one transfer.
package struct FTPMachine: Sendable {
    private enum State {
        /// The server speaks first.
        case greeting
        /// AUTH TLS, the handshake, PBSZ 0 and PROT P (RFC 4217 §4, §9).
        case askingForTLS, securing, settingBuffer, protecting
        /// A question for a name and a password is open.
        case awaitingCredential
        case sendingUser(PasswordCredential)
        case sendingPassword
        /// So many directories have been changed into.
        case changingDirectory(Int)
        case settingForm
        case askingSize, askingDate
        case askingPort(extended: Bool)
        case openingData(extended: Bool)
        case restarting
        /// RETR, LIST, NLST or STOR has been sent.
        case beginning
        case transferring(Progress)
        /// The name was no file: is it a directory?
        case probingDirectory
        case over
    }

    /// What is known of the end while data flows.
    private struct Progress {
        /// How many bytes there were.
        var count: Int64?
        var isBroken = false
        var isConfirmed = false
    }

    private let job: FTPJob
    private var state = State.greeting
    private var credential: PasswordCredential?
    private var refusals = 0
    /// The control connection has ended while that question was open.
    private var isCut = false
    /// The last refusal has led to another connection already.
    private var hasReconnected = false
    private var size: Int64?
    private var date: String?
    private var offset: Int64 = 0

    /// A machine for one transfer; it begins with the server's greeting.
    package init(_ job: FTPJob) {
        self.job = job
        credential = job.credential
    }

    /// Whether data flows, as far as is known.
    package var isTransferring: Bool { if case .transferring = state { true } else { false } }

    /// Whether the server's last word has been said: what follows on the control connection, a farewell to a client
    /// that is slow to take the data, says nothing about the transfer.
    package var isSettled: Bool {
        switch state {
        case .transferring(let progress): progress.isConfirmed
        case .over: true
        case .greeting, .askingForTLS, .securing, .settingBuffer, .protecting, .awaitingCredential, .sendingUser,
            .sendingPassword, .changingDirectory, .settingForm, .askingSize, .askingDate, .askingPort, .openingData,
            .restarting, .beginning, .probingDirectory:
            false
        }
    }

    // MARK: Events

    /// The server has said something.
    package mutating func replied(_ reply: FTPReply) -> FTPAction? {
        if isSettled { return nil }
        if case .awaitingCredential = state {
            // It has lost patience (421), or speaks unasked; either way another connection is better.
            isCut = true
            return nil
        }
        if reply.code == 421 { return reconnect() ?? fail(.serviceUnavailable) }
        if reply.kind == .preliminary { return begun() }
        switch state {
        case .greeting: return greeted(reply)
        case .askingForTLS, .settingBuffer, .protecting: return protected(reply)
        case .sendingUser, .sendingPassword: return loggedIn(reply)
        case .changingDirectory(let count): return changed(reply, count)
        case .settingForm: return formSet(reply)
        case .askingSize, .askingDate: return described(reply)
        case .askingPort(let isExtended): return portNamed(reply, isExtended)
        case .restarting:
            // A server that cannot begin in the middle begins at the beginning.
            if reply.code != 350 { offset = 0 }
            return begin()
        case .beginning, .transferring, .probingDirectory: return ended(reply)
        case .securing, .openingData: return fail(.refused(verb: "nothing", code: reply.code))
        case .awaitingCredential, .over: return nil
        }
    }

    /// TLS stands on the control connection.
    package mutating func secured() -> FTPAction? {
        guard case .securing = state else { return nil }
        state = .settingBuffer
        return .send(FTPCommand("PBSZ", "0"))
    }

    /// The question for a name and a password is answered. Nil is no answer: the first time the user is anonymous then,
    /// and after that it is the end (B14.21).
    package mutating func credentialAnswered(_ answer: PasswordCredential?) -> FTPAction? {
        guard case .awaitingCredential = state else { return nil }
        guard let chosen = answer ?? (refusals == 0 ? Self.anonymous : nil) else {
            return fail(.loginRefused(code: lastRefusal))
        }
        credential = chosen
        guard isCut else { return logIn() }
        return connectAgain()
    }

    /// The data connection stands.
    package mutating func dataOpened() -> FTPAction? {
        guard case .openingData = state else { return nil }
        guard offset > 0 else { return begin() }
        state = .restarting
        return .send(FTPCommand("REST", String(offset)))
    }

    /// The port cannot be connected to: what is tried next, or nil.
    package mutating func dataUnreachable() -> FTPAction? {
        // A firewall may know the ports of PASV and not those of EPSV.
        guard case .openingData(extended: true) = state else { return nil }
        state = .askingPort(extended: false)
        return .send(FTPCommand("PASV"))
    }

    /// The sender has ended the data connection in order, after so many bytes.
    package mutating func dataEnded(count: Int64) -> FTPAction? {
        guard case .transferring(var progress) = state else { return nil }
        progress.count = count
        return settle(progress)
    }

    /// The data connection broke after so many bytes. The server's word on it is waited for: it knows why.
    package mutating func dataLost(count: Int64) -> FTPAction? {
        guard case .transferring(var progress) = state else { return nil }
        progress.count = count
        progress.isBroken = true
        return settle(progress)
    }

    /// The server has ended the control connection.
    package mutating func controlEnded() -> FTPAction? {
        switch state {
        case .over: return nil
        case .awaitingCredential:
            isCut = true
            return nil
        case .transferring(let progress):
            if progress.isConfirmed { return nil }
            if let count = progress.count, let failure = wrongLength(count) { return fail(failure) }
            return fail(.controlClosed)
        case .greeting, .askingForTLS, .securing, .settingBuffer, .protecting, .sendingUser, .sendingPassword,
            .changingDirectory, .settingForm, .askingSize, .askingDate, .askingPort, .openingData, .restarting,
            .beginning, .probingDirectory:
            return reconnect() ?? fail(.controlClosed)
        }
    }

    /// A server may end the connection with its refusal, which can cross the next user name on its way: another
    /// connection, once for each refusal.
    private mutating func reconnect() -> FTPAction? {
        guard case .sendingUser = state, refusals > 0, !hasReconnected else { return nil }
        return connectAgain()
    }

    private mutating func connectAgain() -> FTPAction {
        isCut = false
        hasReconnected = true
        state = .greeting
        return .connectAgain
    }

    // MARK: The login

    private mutating func greeted(_ reply: FTPReply) -> FTPAction? {
        guard reply.kind == .completion else { return fail(.refused(verb: "the connection", code: reply.code)) }
        guard job.isProtected else { return logIn() }
        state = .askingForTLS
        return .send(FTPCommand("AUTH", "TLS"))
    }

    private mutating func protected(_ reply: FTPReply) -> FTPAction? {
        guard reply.kind == .completion else { return fail(.protectionRefused(code: reply.code)) }
        if case .askingForTLS = state {
            state = .securing
            return .secure
        }
        if case .settingBuffer = state {
            state = .protecting
            return .send(FTPCommand("PROT", "P"))
        }
        return logIn()
    }

    private mutating func logIn() -> FTPAction? {
        guard let credential else {
            state = .awaitingCredential
            return .askForCredential(refusals: refusals)
        }
        guard credential.user.utf8.allSatisfy(FTPCommand.isSendable),
            credential.password.utf8.allSatisfy(FTPCommand.isSendable)
        else { return fail(.unsendableCredential) }
        state = .sendingUser(credential)
        return .send(FTPCommand("USER", credential.user))
    }

    private mutating func loggedIn(_ reply: FTPReply) -> FTPAction? {
        if reply.code == 332 { return fail(.accountRequired) }
        if reply.kind == .completion { return changeDirectory(0) }
        if reply.kind == .intermediate, case .sendingUser(let credential) = state {
            state = .sendingPassword
            return .send(FTPCommand("PASS", credential.password))
        }
        refusals += 1
        hasReconnected = false
        lastRefusal = reply.code
        // B2.103.
        guard refusals < AuthenticationMachine.maximumAnswers else { return fail(.loginRefused(code: reply.code)) }
        state = .awaitingCredential
        return .askForCredential(refusals: refusals)
    }

    private var lastRefusal = 530

    private static let anonymous = PasswordCredential(user: "anonymous", password: "anonymous@")

    // MARK: Where it is

    private mutating func changeDirectory(_ count: Int) -> FTPAction? {
        guard count < job.path.directories.count else { return setForm() }
        state = .changingDirectory(count)
        return .send(FTPCommand("CWD", job.path.directories[count]))
    }

    private mutating func changed(_ reply: FTPReply, _ count: Int) -> FTPAction? {
        guard reply.kind == .completion else { return fail(reply.refusal(of: "CWD")) }
        return changeDirectory(count + 1)
    }

    private mutating func setForm() -> FTPAction? {
        if job.purpose == .store, job.path.name == nil { return fail(.isDirectory) }
        state = .settingForm
        return .send(FTPCommand("TYPE", job.path.form == .image && job.path.name != nil ? "I" : "A"))
    }

    private mutating func formSet(_ reply: FTPReply) -> FTPAction? {
        guard reply.kind == .completion else { return fail(.refused(verb: "TYPE", code: reply.code)) }
        // The size of a text is that of its lines as they lie there, not as they are sent.
        guard let name = job.path.name, job.path.form == .image, job.purpose != .store else { return askPort() }
        state = .askingSize
        return .send(FTPCommand("SIZE", name))
    }

    /// SIZE and MDTM are extensions: a server that does not know them, or will not say, goes without (B14.22).
    private mutating func described(_ reply: FTPReply) -> FTPAction? {
        if case .askingSize = state {
            size = reply.size
            guard asksDate, size != nil, let name = job.path.name else { return askPort() }
            state = .askingDate
            return .send(FTPCommand("MDTM", name))
        }
        date = reply.date
        if case .resume(let start, let known) = job.purpose, start > 0, start < known.size, fileState == known {
            offset = start
        }
        return askPort()
    }

    private var asksDate: Bool {
        switch job.purpose {
        case .retrieve: job.asksDate
        case .resume: true
        case .store: false
        }
    }

    private var fileState: FTPFileState? {
        guard let size, let date else { return nil }
        return FTPFileState(size: size, date: date)
    }

    // MARK: The data connection

    private mutating func askPort() -> FTPAction? {
        state = .askingPort(extended: true)
        return .send(FTPCommand("EPSV"))
    }

    private mutating func portNamed(_ reply: FTPReply, _ isExtended: Bool) -> FTPAction? {
        if isExtended, reply.kind != .completion {
            state = .askingPort(extended: false)
            return .send(FTPCommand("PASV"))
        }
        guard reply.kind == .completion else {
            return fail(reply.code == 425 ? .dataConnectionRefused : .refused(verb: "PASV", code: reply.code))
        }
        let port =
            isExtended ? FTPPassiveAddress.extendedPort(reply.text) : FTPPassiveAddress.port(reply.text)
        guard let port, reply.code == (isExtended ? 229 : 227) else { return fail(.malformedAddress) }
        state = .openingData(extended: isExtended)
        return .openData(port: port)
    }

    private mutating func begin() -> FTPAction? {
        state = .beginning
        switch (job.purpose, job.path.name, job.path.form) {
        case (.store, let name?, _): return .send(FTPCommand("STOR", name))
        case (_, let name?, _): return .send(FTPCommand("RETR", name))
        case (_, nil, .names): return .send(FTPCommand("NLST"))
        case (_, nil, .image), (_, nil, .text): return .send(FTPCommand("LIST"))
        }
    }

    /// A preliminary reply: 150 and 125 say that data flows now, 120 that the greeting takes a while.
    private mutating func begun() -> FTPAction? {
        guard case .beginning = state else { return nil }
        state = .transferring(Progress())
        return .transfer(head)
    }

    private var head: FTPHead {
        if job.purpose == .store { return FTPHead(content: .nothing) }
        guard job.path.name != nil else { return FTPHead(content: .listing) }
        return FTPHead(content: .file, offset: offset, size: size, state: fileState)
    }

    // MARK: The end

    private mutating func ended(_ reply: FTPReply) -> FTPAction? {
        switch state {
        case .probingDirectory:
            return fail(reply.kind == .completion ? .isDirectory : .missing)
        case .transferring(var progress):
            // RFC 959 §5.4: 226 and 250 are all that a transfer can end well with.
            guard reply.code == 226 || reply.code == 250 else { return fail(reply.refusal(of: verb)) }
            progress.isConfirmed = true
            return settle(progress)
        case .beginning:
            if reply.code == 550, job.purpose != .store, let name = job.path.name {
                state = .probingDirectory
                return .send(FTPCommand("CWD", name))
            }
            return fail(reply.refusal(of: verb))
        case .greeting, .askingForTLS, .securing, .settingBuffer, .protecting, .awaitingCredential, .sendingUser,
            .sendingPassword, .changingDirectory, .settingForm, .askingSize, .askingDate, .askingPort, .openingData,
            .restarting, .over:
            return nil
        }
    }

    private mutating func settle(_ progress: Progress) -> FTPAction? {
        state = .transferring(progress)
        guard progress.isConfirmed else { return nil }
        guard let count = progress.count else {
            // Of what goes to the server we say ourselves when it has ended.
            return job.purpose == .store ? fail(.dataConnectionLost) : nil
        }
        if let failure = wrongLength(count) { return fail(failure) }
        if progress.isBroken { return fail(.dataConnectionLost) }
        state = .over
        return .finish
    }

    /// What is missing of the announced length; and what is too much of a rest, which is not that of what was loaded
    /// before: a server may say yes to REST, and begin at the beginning.
    private func wrongLength(_ count: Int64) -> FTPFailure? {
        guard job.purpose != .store, let size else { return nil }
        let expected = size - offset
        if offset > 0, count > expected { return .overlong(received: count, expected: expected) }
        return count < expected ? .truncated(received: count, expected: expected) : nil
    }

    private var verb: String {
        if job.purpose == .store { return "STOR" }
        return job.path.name == nil ? "LIST" : "RETR"
    }

    private mutating func fail(_ failure: FTPFailure) -> FTPAction {
        state = .over
        return .fail(failure)
    }
}
