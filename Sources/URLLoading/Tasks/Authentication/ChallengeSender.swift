// The sender of a session's challenges: what older code says to it counts as said to the completion handler (B2.20).

import Foundation
import Synchronization
import URLLoadingEngine
import URLLoadingPolicy

/// Takes the answer to one challenge of one task.
///
/// It shows nothing of the task to `dump`: credentials that are under way would be seen through it.
final class ChallengeSender: NSObject, URLAuthenticationChallengeSender, CustomReflectable {
    let core: TaskCore
    private let token: WaitNumber
    private let subject: TaskChallenge.Subject
    /// The delegates that the loader has asked by their tasks' method, and those that are being asked by it.
    private let asked = Mutex<Set<ObjectIdentifier>>([])

    init(core: TaskCore, token: WaitNumber, subject: TaskChallenge.Subject) {
        self.core = core
        self.token = token
        self.subject = subject
    }

    var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }

    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {
        answer(.useCredential, credential, challenge)
    }

    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {
        answer(.useCredential, nil, challenge)
    }

    func cancel(_ challenge: URLAuthenticationChallenge) {
        answer(.cancelAuthenticationChallenge, nil, challenge)
    }

    func performDefaultHandling(for challenge: URLAuthenticationChallenge) {
        answer(.performDefaultHandling, nil, challenge)
    }

    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {
        answer(.rejectProtectionSpace, nil, challenge)
    }

    /// A delegate is about to be asked by its tasks' method; false where the loader has asked it, or it is being asked.
    @discardableResult
    func asks(_ delegate: any URLSessionDelegate) -> Bool {
        asked.withLock { $0.insert(ObjectIdentifier(delegate)).inserted }
    }

    /// The delegate, which was asked by other code than the loader, has answered.
    fileprivate func hasAsked(_ delegate: any URLSessionDelegate) {
        asked.withLock { _ = $0.remove(ObjectIdentifier(delegate)) }
    }

    private func answer(
        _ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?,
        _ challenge: URLAuthenticationChallenge
    ) {
        let asked = TaskChallenge(shown: challenge, subject: subject)
        core.questions.take(.challenge(disposition, credential), to: .challenge(asked, ofTask: false), under: token)
    }
}

extension URLAuthenticationChallenge {
    /// The task whose delegates are asked; nil where the program has made the challenge.
    var askingTask: TaskCore? { (sender as? ChallengeSender)?.core }

    /// Called by the defaults of a session's methods, which know no task; as `DelegateProbe.noteMissing` and
    /// `TaskCore.noteMissingHandlerForm`.
    func noteMissing(_ method: DelegateMethod, of delegate: any URLSessionDelegate) -> Bool {
        if method == .sessionChallenge, HandlerFormCall.noteMissing(method, of: delegate) { return true }
        guard let core = askingTask else { return false }
        return method == .sessionChallenge
            ? core.probe.noteMissing(method, of: delegate) : core.asyncProbe.noteMissing(method, of: delegate)
    }

    /// What a delegate without the session's method says where other code than the loader asks for it: what its tasks'
    /// method says, which the loader would have asked (B2.2).
    ///
    /// Security: else a delegate that has the session's method, and hands its calls on, would hide the pins of one that
    /// has the tasks' method alone.
    func askTasksMethod(
        of delegate: any URLSessionDelegate, in session: URLSession
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        // A tasks' method that asks for the session's one gets the default answer, on whichever thread it goes on.
        guard let asking = sender as? ChallengeSender, let tasks = delegate as? any URLSessionTaskDelegate,
            asking.asks(delegate)
        else { return (.performDefaultHandling, nil) }
        defer { asking.hasAsked(delegate) }
        return await tasks.urlSession(session, task: asking.core.face, didReceive: self)
    }
}
