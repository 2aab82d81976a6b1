// What follows from a delegate's answer to a question that its task has waited for (B1.31).

import Foundation
import URLLoadingEngine
import URLLoadingPolicy

extension DelegateQuestions {
    /// Takes the first answer to a question, from any thread.
    func take(_ answer: TaskAnswer, to question: TaskQuestion, under token: WaitNumber) {
        switch task.mailbox.withLock({ $0.accept(answerTo: token) }) {
        case .accepted: break
        case .late: return answer.closeStream()
        case .repeated:
            answer.closeStream()
            ErrorText.reportSecondAnswer()
            return
        }
        follow(answer, to: question)
        task.delivery.endQuestion(token)
    }

    /// Order: before the list goes on, so that what follows finds the task as the answer wants it.
    private func follow(_ answer: TaskAnswer, to question: TaskQuestion) {
        switch (answer, question) {
        case (.disposition(.allow), .response(let response)):
            task.outlet.pipe?.post(.response(response))
            task.hops.resumeReading()
        case (.disposition(let disposition), .part):
            switch disposition {
            case .becomeDownload:
                task.hops.end(unsupported: "A part of a multipart body cannot become a download task.")
            case .becomeStream: task.hops.end(unsupported: "A part of a multipart body cannot become a stream task.")
            case .allow, .cancel:
                decideOnResponse(disposition, mayRead: task.mailbox.withLock { $0.untoldParts == 0 })
            }
        case (.disposition(let disposition), _):
            decideOnResponse(disposition)
        case (.storing(let given), .storing(let proposed)):
            task.caching.store(given, proposed: proposed)
        case (.delayed(let disposition, let next), .delayed(_, let wait)):
            task.delay.decide(disposition, next, after: wait)
        case (.challenge(let disposition, let credential), .challenge(let challenge, _)):
            task.trust.decideOnChallenge(disposition, credential, for: challenge)
        case (.redirect(let next?), .redirect(let response, _)):
            task.hops.followAsked(next, by: response)
        case (.redirect(nil), .redirect(let response, _)):
            task.hops.show(undecided: response, isFirst: true)
        case (.stream(let stream), .bodyStream(let wait, _)):
            task.hops.received(stream, to: wait)
        case (.redirect, .response), (.redirect, .part), (.redirect, .delayed), (.redirect, .bodyStream),
            (.redirect, .challenge), (.redirect, .storing), (.challenge, _), (.storing, _), (.delayed, _), (.stream, _):
            task.hops.resumeReading()
        }
    }

    /// `mayRead`: nothing that is waiting to be told keeps the body from being read on.
    private func decideOnResponse(_ disposition: URLSession.ResponseDisposition, mayRead: Bool = true) {
        switch disposition {
        case .allow:
            if mayRead { task.hops.resumeReading() }
        case .cancel:
            task.driver.cancel()
        case .becomeDownload:
            task.download.takeOver()
        case .becomeStream:
            task.stream.askForConnection()
        }
    }
}
