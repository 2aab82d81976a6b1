// What a load tells and asks the one it is for: a connection or a download, which put it in their delegate's words.
//
// All but the three that prepare are called in the place of the delegate, one at a time, never after a cancellation.

import Foundation
import URLLoading

/// Hears of a load.
protocol LoadListener: AnyObject, Sendable {
    /// The delegate that it tells. The delegate's answers hold for all that this listener loads, and for no other load.
    var principal: AnyObject? { get }
    /// The load begins.
    func begins()
    /// A request is about to be sent, the first or that of a redirect; nil takes the redirect as the response.
    func willSend(_ request: URLRequest, after response: URLResponse?) -> URLRequest?
    /// Whether stored credentials may be used; asked once, before anything is sent.
    func usesCredentialStorage() -> Bool
    /// A challenge has come; its sender takes the answer.
    func isAsked(_ challenge: URLAuthenticationChallenge)
    /// The load has ended with a challenge unanswered.
    func isAskedNoMore(_ challenge: URLAuthenticationChallenge)
    /// Whether the body may come only when `receives(_:)` has returned.
    var preparesForBody: Bool { get }
    func receives(_ response: URLResponse)
    /// A piece of the body has been prepared.
    func receives(piece: Data)
    func hasSent(_ count: Int64, total: Int64, expected: Int64)
    /// The request is sent once more and its stream has been read.
    func bodyStream(for request: URLRequest) -> InputStream?
    func stores(_ response: CachedURLResponse) -> CachedURLResponse?
    /// Bytes of a load that goes to a file.
    func hasWritten(_ count: Int64, total: Int64, expected: Int64)
    /// The last message. A load that goes to a file has it here.
    func ends(_ error: (any Error)?, file: URL?)

    /// Called before `receives(_:)`, elsewhere; calls back when that may be told, behind what came before.
    func prepareResponse(then: @escaping @Sendable () -> Void)
    /// Called before `receives(piece:)`, elsewhere; calls back when that may be told.
    func prepare(_ piece: Data, then: @escaping @Sendable () -> Void)
    /// Called before `ends`, elsewhere; calls back when that may be told, with what went wrong with preparing.
    func prepareEnd(then: @escaping @Sendable ((any Error)?) -> Void)
}
