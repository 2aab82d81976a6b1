// Questions about servers and credentials, which the owner of a transfer passes on to the program (B10.20, B10.37).
//
// Must not know: which delegate is asked, and in which form (`DelegateInquiry`).

import Foundation
import URLLoadingPolicy
import URLLoadingTrust

extension BackgroundSession {
    /// Asks the delegates of a task, on their queue; called where the program's own code may run.
    func ask(_ challenge: TransferChallenge, of task: UInt64, on channel: OwnerChannel) {
        guard let core = state.withLock({ $0.entries[task]?.core }) else { return }
        guard let space = URLProtectionSpace(challenge, of: core) else {
            return answer(TransferAnswer(task: task, challenge: challenge.number, disposition: .performDefaultHandling))
        }
        // Only a proxy that has taken its password lets a server ask. Any other question for a password may
        // be of a further attempt.
        if challenge.certificates.isEmpty {
            settleOffer(of: task, on: channel) { $0.space.isProxy() && !challenge.space.isProxy }
        }
        let earlier = state.withLock { state -> [SchemeQuestion]? in
            guard let entry = state.entries[task], entry.questions[challenge.number] == nil,
                entry.inquiry != challenge.number
            else { return nil }
            state.entries[task]?.questions = [:]
            state.entries[task]?.inquiry = challenge.number
            return Array(entry.questions.values)
        }
        guard let earlier else { return }
        // A task has one question at a time: what has put these is gone.
        for one in earlier { one.withdraw(from: core) }
        // The URL comes before the storage (B2.44). The owner has the URL, too, and answers by what it says.
        let named = challenge.space.passwordSide.flatMap { core.authentication.userInURL(for: $0) }
        guard named?.hasPassword != true else {
            return ask(challenge, space, of: core, named, stored: nil, on: channel)
        }
        findCredential(for: challenge, space, of: core, user: named?.user) { [weak self, weak core] stored in
            guard let self, let core else { return }
            ask(challenge, space, of: core, named, stored: stored, on: channel)
        }
    }

    /// Asks with what the storage has, unless the question was withdrawn meanwhile.
    private func ask(
        _ challenge: TransferChallenge, _ space: URLProtectionSpace, of core: TaskCore, _ named: URLCredential?,
        stored: URLCredential?, on channel: OwnerChannel
    ) {
        let task = UInt64(core.identifier)
        let isBehindSocket = isBehindSocket(challenge, of: core)
        let shown = URLAuthenticationChallenge(
            protectionSpace: space, proposedCredential: stored ?? named,
            previousFailureCount: Int(clamping: challenge.failures), failureResponse: challenge.head?.response,
            error: nil, sender: PlaceholderSender.shared)
        let question = SchemeQuestion(shown) { [weak self, weak core] _, disposition, credential in
            guard let self else { return }
            let known = state.withLock { $0.entries[task]?.questions.removeValue(forKey: challenge.number) != nil }
            guard known else { return }
            if disposition == .useCredential, let credential, credential.persistence != .none,
                credential.password != nil, !isBehindSocket
            {
                offer(credential, for: space, of: task, on: channel)
            }
            answer(
                TransferAnswer(
                    task: task, to: challenge, disposition, credential,
                    usual: challenge.failures == 0 ? stored : nil, space: space))
            if disposition == .cancelAuthenticationChallenge { core?.driver.cancel() }
        }
        let isWanted = state.withLock { state in
            guard state.entries[task]?.inquiry == challenge.number else { return false }
            state.entries[task]?.inquiry = nil
            state.entries[task]?.questions = [challenge.number: question]
            return true
        }
        if isWanted { question.ask(of: core) }
    }

    /// Finds what default handling uses that is this program's alone to know: the storage's default or, where the URL
    /// has a mere name, that user's (B2.44). For a password it is asked on behalf of the task, and may answer late, on
    /// any thread (B2.68).
    private func findCredential(
        for challenge: TransferChallenge, _ space: URLProtectionSpace, of core: TaskCore, user: String?,
        then goOn: @escaping @Sendable (URLCredential?) -> Void
    ) {
        guard let storage = values.urlCredentialStorage, !isBehindSocket(challenge, of: core) else { return goOn(nil) }
        guard challenge.space.takesPassword else {
            return goOn(challenge.space.isAboutClient ? storage.defaultCredential(for: space) : nil)
        }
        let spaces = [space, space.otherProxySpace].compactMap(\.self)
        storage.findPassword(in: spaces[...], of: user, for: core.face) { [inquiries] found in
            // Order: what is withdrawn before this has its turn is not asked.
            inquiries.run { goOn(found) }
        }
    }

    /// Whether a server behind a UNIX-domain socket asks, which has no part in the storage (B2.108). The owner knows;
    /// one of before does not say so, and what the program knows of the request has to do.
    private func isBehindSocket(_ challenge: TransferChallenge, of core: TaskCore) -> Bool {
        if challenge.isBehindSocket { return true }
        guard let request = core.currentRequest else { return false }
        return core.session?.settings.socket(of: request) != nil
    }

    // MARK: What was accepted

    /// Keeps what a delegate has given, to be stored when it is accepted (B2.67).
    private func offer(
        _ credential: URLCredential, for space: URLProtectionSpace, of task: UInt64, on channel: OwnerChannel
    ) {
        let new = Offer(credential: credential, space: space, channel: channel)
        // Order: the one before goes outside of the lock, since it may be the program's.
        let old = state.withLock { state -> Offer? in
            defer { state.entries[task]?.offer = new }
            return state.entries[task]?.offer
        }
        withExtendedLifetime(old) {}
    }

    /// The server has answered: what the delegate had given is the default of its space from now
    /// on, or was wrong (B2.67).
    func settleOffer(of task: UInt64, on channel: OwnerChannel, isAccepted: (Offer) -> Bool) {
        let (offer, core) = state.withLock { state -> (Offer?, TaskCore?) in
            guard let entry = state.entries[task], let offer = entry.offer else { return (nil, nil) }
            state.entries[task]?.offer = nil
            return (offer, entry.core)
        }
        // What another owner was told says nothing about this one's connection.
        guard let offer, let core, offer.channel === channel, isAccepted(offer),
            let storage = values.urlCredentialStorage
        else { return }
        // The storage may be the program's own, and take its time.
        inquiries.run { storage.setDefaultCredential(offer.credential, for: offer.space, task: core.face) }
    }

    /// A question needs no answer any more.
    func withdraw(question number: UInt64, of task: UInt64) {
        let (question, core) = state.withLock { state -> (SchemeQuestion?, TaskCore?) in
            if state.entries[task]?.inquiry == number { state.entries[task]?.inquiry = nil }
            return (state.entries[task]?.questions.removeValue(forKey: number), state.entries[task]?.core)
        }
        if let question, let core { question.withdraw(from: core) }
    }

    /// The task is over, and none of its questions needs an answer: what an owner that is no more has asked is
    /// not withdrawn by another.
    func withdrawQuestions(of task: UInt64) {
        let (questions, core) = state.withLock { state -> ([SchemeQuestion], TaskCore?) in
            guard let entry = state.entries[task] else { return ([], nil) }
            state.entries[task]?.questions = [:]
            state.entries[task]?.inquiry = nil
            return (Array(entry.questions.values), entry.core)
        }
        guard let core else { return }
        for question in questions { question.withdraw(from: core) }
    }

    private func answer(_ answer: TransferAnswer) { tell(.answer(answer)) }
}

extension TransferAnswer {
    /// What a delegate has said; a credential that cannot be carried to another process is none.
    fileprivate init(
        task: UInt64, to question: TransferChallenge, _ disposition: URLSession.AuthChallengeDisposition,
        _ credential: URLCredential?, usual: URLCredential?, space: URLProtectionSpace
    ) {
        let challenge = question.number
        switch disposition {
        case .useCredential:
            let carried = credential.flatMap { TransferCredential($0, for: space, takesOnce: question.takesOnce) }
            // B2.35: a credential that does not fit is no reason to trust a server.
            let refuses = credential != nil && carried == nil
            self.init(
                task: task, challenge: challenge, disposition: refuses ? .reject : .useCredential, credential: carried)
        case .performDefaultHandling:
            let carried = usual.flatMap { TransferCredential($0, for: space, takesOnce: question.takesOnce) }
            self.init(
                task: task, challenge: challenge,
                disposition: carried == nil ? .performDefaultHandling : .useCredential,
                credential: carried)
        case .cancelAuthenticationChallenge: self.init(task: task, challenge: challenge, disposition: .cancel)
        case .rejectProtectionSpace: self.init(task: task, challenge: challenge, disposition: .reject)
        }
    }
}

extension TransferCredential {
    /// What goes to another process. An identity does not: keys stay where they are; a session whose configuration has
    /// one carries its transfers out itself.
    fileprivate init?(_ credential: URLCredential, for space: URLProtectionSpace, takesOnce: Bool) {
        if space.authenticationMethod == NSURLAuthenticationMethodServerTrust {
            guard let leaf = credential.trust?.presented.leaf, leaf == space.serverTrust?.presented.leaf else {
                return nil
            }
            self = .trust
        } else if let user = credential.user, let password = credential.password {
            self =
                takesOnce && credential.persistence == .none
                ? .passwordOnce(user: user, password: password) : .password(user: user, password: password)
        } else {
            return nil
        }
    }
}

extension TransferSpace {
    /// The server that asks for a name and a password; nil where something else is in question.
    fileprivate var passwordSide: AuthenticationSide? {
        guard takesPassword, !isProxy, let scheme,
            let origin = Origin(scheme: scheme, host: host, port: Int(clamping: port))
        else { return nil }
        return .server(origin)
    }
}

extension URLProtectionSpace {
    /// A space as it was sent; nil for a server's trust that cannot be read.
    fileprivate convenience init?(_ challenge: TransferChallenge, of core: TaskCore) {
        let space = challenge.space
        let port = Int(clamping: space.port)
        if space.method == NSURLAuthenticationMethodServerTrust {
            var read: [Certificate] = []
            for der in challenge.certificates {
                guard let certificate = try? Certificate(der: der) else { return nil }
                read.append(certificate)
            }
            guard let chain = CertificateChain(read, stapling: challenge.stapling.ofChain), let session = core.session
            else {
                return nil
            }
            let trust = SecTrust(
                presented: chain, policy: TrustPolicy(host: HostName(space.host)), evaluator: session.settings.evaluator
            )
            self.init(serverTrust: trust, host: space.host, port: port, isProxy: space.isProxy)
        } else if space.method == NSURLAuthenticationMethodClientCertificate {
            self.init(
                distinguishedNames: space.distinguishedNames.map { Data($0) }, host: space.host, port: port,
                isProxy: space.isProxy)
        } else if space.isProxy {
            self.init(
                proxyHost: space.host, port: port, type: space.proxyType, realm: space.realm,
                authenticationMethod: space.method)
        } else {
            self.init(
                host: space.host, port: port, protocol: space.scheme, realm: space.realm,
                authenticationMethod: space.method)
        }
    }
}
