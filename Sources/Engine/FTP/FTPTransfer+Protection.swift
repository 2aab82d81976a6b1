// FTP under TLS (RFC 4217): the control connection is believed as every server is, the data connection when it leads to
// the same server. Servers see that in turn by the session: ours is resumed from the control connection's tickets,
// which belong to this transfer alone, since many servers keep the keys of a session with the process that serves it.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTLS
import URLLoadingTrust

extension FTPTransfer {
    /// Puts TLS on the control connection.
    func secureControl() {
        guard let control else { return finish(.ftp(.controlClosed)) }
        // Order: looked at before the handshake, which would take it for a part of TLS or leave it for afterwards.
        guard !control.hasUnread else { return finish(.ftp(.plaintextBeforeTLS)) }
        let stream = control.leave()
        self.control = nil
        opening.secure(stream) { [unowned self] result in
            switch result {
            case .success(let channel):
                peer = channel.tls?.peer?.presented
                // A resumed session goes on with what was shown when it began.
                if let tls = channel.tls, !tls.isResumed { identity = tls.identityShown }
                secured(TLSStream(channel))
            case .failure(let error):
                finish(error)
            }
        }
    }

    /// Puts TLS on the data connection.
    func secureData(_ stream: any ByteStream) {
        let begun = TLSHandshake(
            origin: place, of: opening.route.certificateSeeker(isProxy: false), offering: .nothing, tickets: tickets,
            stream: stream, core: core,
            ask: { [unowned self] in askAboutData($0) }
        ) { [self] result in
            dataHandshake = nil
            switch result {
            case .success(let channel):
                let secure = TLSStream(channel)
                // The last message of the handshake: a side that only receives would never send it.
                secure.flushOutput()
                carry(on: secure, tls: channel.tls)
            case .failure(let error):
                finish(.tls(error, host: place.host))
            }
        }
        dataHandshake = begun
        begun.start()
    }

    /// An answer to a question about the control connection has come, perhaps too late.
    func answered(_ number: Int, _ answer: QuestionAnswer) { opening.answered(number, answer) }

    /// The delegate that was asked has no method for the question, and the session decides.
    func leftToSession(_ number: Int) { opening.leftToSession(number) }

    /// The data connection must lead to the server of the control connection: no question is asked again, and
    /// no other server is believed, whatever an evaluation would say. It is shown what it was shown there,
    /// and nothing else (B2.41).
    private func askAboutData(_ asked: TLSHandshake.Question) -> Bool {
        let answer: QuestionAnswer
        switch asked {
        case .peer(let chain, _):
            let isSame = peer.map { $0.leaf == chain.leaf } ?? false
            answer = .peer(
                isSame ? .accept : .refuse(TrustFailure(.other("it is not the control connection's"), chain.leaf)))
        case .identity:
            answer = .identity(.show(identity))
        }
        // Later: an answer must not come before the question is put.
        core.reactor.later { [weak self] in
            guard let self, !isOver else { return }
            dataHandshake?.answer(answer)
        }
        return true
    }
}
