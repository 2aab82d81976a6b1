// The refusal of a server or a proxy that wants a proof first: a server's by 401, a proxy's by 407 or in
// SOCKS' own words. Values.
//
// Must not know: which delegate is asked about it, and what is answered.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy

/// What a task has to answer.
struct Refusal: Sendable {
    /// What waits for the answer.
    enum Subject: Sendable {
        /// The response of a hop, of which nothing more is read.
        case response(HTTPURLResponse, TransactionHandle)
        /// A proxy that does not open a tunnel; the response is that to CONNECT, where it speaks HTTP.
        case tunnel(ProxyQuestion, HTTPURLResponse?)
    }

    let subject: Subject
    let side: AuthenticationSide
    /// What is asked about.
    let space: URLProtectionSpace
    /// How it is to be answered; nil for SOCKS.
    let method: AuthenticationMethod?
    /// How often an answer was refused before.
    let failures: Int
    /// What a storage has for it, once that was asked.
    var stored: URLCredential?

    /// What the other side has said (B2.18).
    var response: HTTPURLResponse? {
        switch subject {
        case .response(let response, _): response
        case .tunnel(_, let response): response
        }
    }

    /// Whether a name and a password answer it; Negotiate is about the user's ticket.
    var takesPassword: Bool { method != .negotiate }

    /// A copy of the refusal that asks about another space.
    func asking(_ space: AuthenticationSpace, failures: Int) -> Refusal {
        let isTunnel = if case .tunnel = subject { true } else { false }
        return Refusal(
            subject: subject, side: side, space: URLProtectionSpace(space, isTunnel: isTunnel), method: space.method,
            failures: failures)
    }
}

extension Refusal {
    /// What was refused, before it is known about which space to ask.
    init(_ subject: Subject, by side: AuthenticationSide) {
        self.init(subject: subject, side: side, space: URLProtectionSpace(), method: nil, failures: 0)
    }

    /// A SOCKS proxy that wants a password, or another one.
    init(socks question: ProxyQuestion, failures: Int) {
        self.init(
            subject: .tunnel(question, nil), side: AuthenticationSide(question.proxy),
            space: URLProtectionSpace(socks: question.proxy), method: nil, failures: failures)
    }
}
