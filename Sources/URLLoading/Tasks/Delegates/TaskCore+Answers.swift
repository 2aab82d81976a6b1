// What follows from a delegate's answer to a question that its task has waited for (B1.31).

import Foundation
import URLLoadingEngine
import URLLoadingPolicy

extension TaskCore {
    /// Takes the first answer to a question, from any thread.
    func takeAnswer(_ answer: TaskAnswer, to question: TaskQuestion, under token: WaitNumber) {
        switch mailbox.withLock({ $0.accept(answerTo: token) }) {
        case .accepted: break
        case .late: return
        case .repeated:
            ErrorText.reportMisuse("a delegate called a completion handler twice; the second call is ignored")
            return
        }
        act(on: answer, to: question)
        if mailbox.withLock({ $0.endWaiting(for: token) }) { session?.relay.schedule(self) }
    }

    /// Order: before the list goes on, so that what follows finds the task as the answer wants it.
    private func act(on answer: TaskAnswer, to question: TaskQuestion) {
        switch (answer, question) {
        case (.disposition(.allow), .response(let response)):
            outlet.pipe?.post(.response(response))
            resumeReading()
        case (.disposition(let disposition), .part):
            switch disposition {
            case .becomeDownload: end(unsupported: "A part of a multipart body cannot become a download task.")
            case .becomeStream: end(unsupported: "A part of a multipart body cannot become a stream task.")
            case .allow, .cancel: decideOnResponse(disposition, mayRead: mailbox.withLock { $0.untoldParts == 0 })
            }
        case (.disposition(let disposition), _):
            decideOnResponse(disposition)
        case (.storing(let given), .storing(let proposed)):
            caching.store(given, proposed: proposed)
        case (.delayed(let disposition, let next), .delayed(_, let wait)):
            decideOnDelay(disposition, next, after: wait)
        case (.challenge(let disposition, let credential), .challenge(let challenge, _)):
            trust.decideOnChallenge(disposition, credential, for: challenge)
        case (.redirect(let next?), .redirect(let response, _)):
            let keepsBody = state.withLock { state in
                state.redirect.deliversBody = false
                return state.redirect.keepsOwnBody
            }
            noteRedirect(to: next, by: response)
            // B4.33: the next hop does not wait for what is left of this one, unless that is kept.
            if keepsBody { resumeReading() } else { state.withLock { $0.load.handle }?.discardRest() }
        case (.redirect(nil), .redirect(let response, _)):
            deliverRedirect(response)
        case (.stream(let stream), .bodyStream(let wait, _)):
            received(stream, to: wait)
        case (.redirect, .response), (.redirect, .part), (.redirect, .delayed), (.redirect, .bodyStream),
            (.redirect, .challenge), (.redirect, .storing), (.challenge, _), (.storing, _), (.delayed, _), (.stream, _):
            resumeReading()
        }
    }

    /// `mayRead`: nothing that is waiting to be told keeps the body from being read on.
    private func decideOnResponse(_ disposition: URLSession.ResponseDisposition, mayRead: Bool = true) {
        switch disposition {
        case .allow:
            if mayRead { resumeReading() }
        case .cancel:
            cancel()
        case .becomeDownload:
            download.takeOver()
        case .becomeStream:
            stream.askForConnection()
        }
    }

    /// The redirect itself is the response (B4.3).
    private func deliverRedirect(_ response: HTTPURLResponse) {
        if kindName == .webSocket { return webSocket.refuseUndecided(response) }
        state.withLock { $0.redirect.deliversBody = true }
        responseArrived(response, hasBody: response.expectedContentLength != 0)
        if outlet.audience == .nobody { return resumeReading() }
        // Reading goes on once that question is answered too.
        mailbox.withLock { $0.putFirst(.response(response)) }
    }

    /// Ends the task, which cannot do what a delegate wants of it.
    func end(unsupported description: String) {
        willFail(LoadFailure.unsupportedURL(originalRequest?.url, description))
        cancelHop()
    }

    /// The receiver can take more.
    func resumeReading() {
        state.withLock { $0.load.handle }?.resumeReading()
    }
}
