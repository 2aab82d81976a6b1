// Where the answer to a refusal is looked for before or instead of asking a delegate: the URL, the proxy's settings,
// the credential storage (behaviour 2.5 to 2.7).
//
// Called where the program's own code may run, and never with a lock held. Must not know: what becomes of an offer.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem

extension TaskAuthentication {
    /// What the settings of a proxy say, until it has been tried (B2.101).
    func configuredOffer(for refusal: Refusal) -> CredentialOffer? {
        guard case .proxy(let proxy) = refusal.side, let configured = proxy.credentials,
            !refusal.space.isSOCKS, refusal.takesPassword
        else { return nil }
        let credential = URLCredential(user: configured.user, password: configured.password, persistence: .none)
        return untried(credential, for: refusal)
    }

    /// What default handling uses: the URL's, then what the storage was found to have (B2.44). The user's ticket is in
    /// neither: it never goes to a server that was not named.
    func usualOffer(for refusal: Refusal) -> CredentialOffer? {
        namedOffer(for: refusal) ?? refusal.stored.flatMap { untried($0, for: refusal) }
    }

    private func namedOffer(for refusal: Refusal) -> CredentialOffer? {
        guard let named = userInURL(for: refusal), named.hasPassword else { return nil }
        return untried(named, for: refusal)
    }

    /// What the delegate is shown: what was refused last, else what default handling would use, else a mere name
    /// (B2.14, B2.15, B2.75).
    func proposal(for refusal: Refusal) -> URLCredential? {
        if refusal.failures > 0, let refused = task.state.withLock({ $0.authentication[refusal.side]?.refused }) {
            return refused
        }
        return usualOffer(for: refusal)?.credential ?? userInURL(for: refusal)
    }

    private func userInURL(for refusal: Refusal) -> URLCredential? {
        refusal.takesPassword ? userInURL(for: refusal.side) : nil
    }

    /// The user whom the task's URL names for a side that takes a password: with it, or as a mere name.
    func userInURL(for side: AuthenticationSide) -> URLCredential? {
        task.state.withLock { state -> URLUserInformation? in
            let url = state.currentRequest?.url
            return state.user(namedBy: url, for: side)
        }?.credential
    }

    /// Where the passwords for a side are looked up and kept; nil for nowhere (B2.70). A storage's spaces name no
    /// socket, and a host's name says nothing about the server behind one (B2.108).
    func storage(for side: AuthenticationSide) -> URLCredentialStorage? {
        if case .server(_, socket: .some) = side { return nil }
        return task.session?.settings.credentialStorage
    }

    /// Goes on with what the storage has: its default or, where the URL has a mere name, that user's (B2.64, B2.66).
    /// One of a class of the program's is asked on a helper thread, and may answer late.
    func lookUp(_ refusal: Refusal, then goOn: @escaping @Sendable (Refusal) -> Void) {
        guard refusal.takesPassword, let storage = storage(for: refusal.side) else { return goOn(refusal) }
        let number = task.state.withLock { state -> Int in
            state.authentication.lookups += 1
            return state.authentication.lookups
        }
        let work = { @Sendable () -> Void in
            // What comes before the storage's.
            if configuredOffer(for: refusal) != nil || namedOffer(for: refusal) != nil { return goOn(refusal) }
            let named = userInURL(for: refusal)
            let spaces = [refusal.space, refusal.space.otherProxySpace].compactMap(\.self)
            let user = named?.hasPassword == false ? named?.user : nil
            storage.findPassword(in: spaces[...], of: user, for: task.face) { found in
                // The task may be at something else by now.
                guard isOpen(refusal), task.state.withLock({ $0.authentication.lookups == number }) else { return }
                var answered = refusal
                answered.stored = found
                goOn(answered)
            }
        }
        if storage.isPlain { return work() }
        if !BlockingPool.authentication.run(work) { goOn(refusal) }
    }

    private func untried(_ credential: URLCredential, for refusal: Refusal) -> CredentialOffer? {
        let rounds = task.state.withLock { $0.isAuthenticating ? $0.authentication[refusal.side] : nil }
        // Order: when the lock is free, since credentials may be of the program's own classes.
        if rounds?.hasTried(credential, for: refusal.space) ?? false { return nil }
        return CredentialOffer(credential: credential, space: refusal.space, isDelegates: false)
    }

    /// Stores what a delegate has given and the other side accepted, as the default of its space (B2.67).
    func storeOffer(_ offer: CredentialOffer) {
        let storage = task.session?.settings.credentialStorage
        storage?.setDefaultCredential(offer.credential, for: offer.space, task: task.face)
    }
}

extension URLProtectionSpace {
    /// Whether a SOCKS proxy asks.
    var isSOCKS: Bool { proxyType == NSURLProtectionSpaceSOCKSProxy }
}

extension Refusal {
    /// What a credential says to it; nil for one of another kind (B2.35).
    func meaning(of credential: URLCredential) -> AuthenticationMachine.Answer? {
        if takesPassword { return PasswordCredential(credential).map { .password($0) } }
        return credential.isTicket ? .ticket : nil
    }
}

extension PasswordCredential {
    /// The credential's name and password in the form that hashes need (RFC 7616 §4); nil for other kinds.
    init?(_ credential: URLCredential) {
        guard let user = credential.user, let password = credential.password else { return nil }
        self.init(
            user: user.precomposedStringWithCanonicalMapping, password: password.precomposedStringWithCanonicalMapping)
    }
}
