// What attempts at transfers want from elsewhere: answers to challenges, and files for what comes.

import Foundation
import URLLoadingPolicy
import URLLoadingSystem

extension TransferOwner {
    // MARK: Questions

    /// A server's certificate or a proof is in question. The program is asked if it is there and wants to be; servers
    /// are judged by the settings otherwise, and everything else waits for a program to come (B10.20, B10.37).
    func asked(
        _ task: URLSessionTask, _ challenge: URLAuthenticationChallenge,
        _ completion: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let (number, transfer) = transfer(of: task) else {
            return completion(.cancelAuthenticationChallenge, nil)
        }
        let asks: Bool
        if let hello {
            asks = challenge.isAboutServer ? hello.judgesServers : hello.answersChallenges
        } else {
            asks = !challenge.isAboutServer
        }
        guard asks else { return completion(.performDefaultHandling, nil) }
        var told = TransferChallenge(challenge, number: nextQuestion)
        let socket = task.currentRequest.flatMap { task.core.session?.settings.socket(of: $0) }
        told.isBehindSocket = told.space.takesPassword && socket != nil
        let question = LiveTransfer.OpenQuestion(challenge: told, original: challenge, completion: completion)
        nextQuestion += 1
        transfer.question = question
        schedule.asked(number)
        transfer.record.state = .asking(question.challenge)
        save(number)
        put(question, about: number)
        settle()
    }

    func put(_ question: LiveTransfer.OpenQuestion, about number: UInt64) {
        tell(.challenged(task: number, question.challenge))
    }

    /// The program's answer; one to a question that is not open any more counts for nothing.
    func take(_ answer: TransferAnswer) {
        guard let question = transfers[answer.task]?.question, question.challenge.number == answer.challenge else {
            return
        }
        let (disposition, credential) = answer.meaning(for: question.original)
        close(question, of: answer.task, disposition, credential)
    }

    /// The program that judged servers has gone: those that are in question are judged by the settings (B10.37).
    func judgeServersBySettings() {
        for number in transfers.keys.sorted() {
            guard let question = transfers[number]?.question, question.original.isAboutServer else { continue }
            close(question, of: number, .performDefaultHandling, nil)
        }
    }

    /// The transfer goes on with what answers its question.
    private func close(
        _ question: LiveTransfer.OpenQuestion, of number: UInt64,
        _ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?
    ) {
        guard let transfer = transfers[number] else { return }
        transfer.question = nil
        transfer.record.state = .running
        schedule.answered(number)
        save(number)
        question.completion(disposition, credential)
    }

    /// The attempt has ended and does not wait for an answer any more.
    func withdrawQuestion(of number: UInt64) {
        guard let transfer = transfers[number], let question = transfer.question else { return }
        transfer.question = nil
        question.completion(.cancelAuthenticationChallenge, nil)
        tell(.withdrawn(task: number, challenge: question.challenge.number))
    }

    // MARK: Files

    /// A download is whole; its file is kept, from within the delegate's call.
    func downloaded(_ task: URLSessionTask, to location: URL) {
        guard let (number, transfer) = transfer(of: task) else { return }
        do throws(BackgroundDirectoryFailure) {
            transfer.downloaded = try directory.keepFile(at: location.path, as: "download-\(number)")
        } catch {
            transfer.fileFailure = error
        }
    }

    /// More of the answer to an upload or a data task has come.
    func received(_ task: URLSessionTask, _ data: Data) {
        guard let (number, transfer) = transfer(of: task), transfer.fileFailure == nil else { return }
        do throws(BackgroundDirectoryFailure) {
            let file: TemporaryFile
            if let answer = transfer.answer {
                file = answer
            } else {
                file = try directory.makeFile("answer-\(number)")
                transfer.answer = file
            }
            if let error = data.withUnsafeBytes({ file.append($0) }) { throw .system(error, path: file.path) }
        } catch {
            transfer.fileFailure = error
            return task.cancel()
        }
        transfer.record.counts.received = transfer.record.counts.received.addingSaturated(Int64(data.count))
        progressed(number)
        tell(.progress(task: number, transfer.record.counts))
    }

    /// The answer is whole; nil where there is none.
    func keepAnswer(_ transfer: LiveTransfer) throws(BackgroundDirectoryFailure) -> String? {
        guard let file = transfer.answer else { return nil }
        let path = file.path
        if let error = file.close() { throw .system(error, path: path) }
        file.letGo()
        transfer.answer = nil
        return try directory.keepFile(at: path, as: "answer-\(transfer.record.task)")
    }
}

extension URLAuthenticationChallenge {
    /// Whether a server's certificate is in question.
    var isAboutServer: Bool {
        protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust
    }
}

extension TransferChallenge {
    /// A question in the form in which it travels.
    init(_ challenge: URLAuthenticationChallenge, number: UInt64) {
        let place = challenge.protectionSpace
        var space = TransferSpace(
            host: place.host, port: Int64(min(max(0, place.port), 65_535)), scheme: place.protocol, realm: place.realm,
            method: place.authenticationMethod, isProxy: place.isProxy(), proxyType: place.proxyType)
        space.distinguishedNames = (place.distinguishedNames ?? []).map { Array($0) }
        self.init(
            number: number, space: space, failures: UInt32(clamping: challenge.previousFailureCount),
            head: challenge.failureResponse.flatMap { TransferHead($0) },
            certificates: place.serverTrust?.presented.certificates.map(\.der) ?? [])
        takesOnce = !challenge.isAboutServer
        if let trust = place.serverTrust { stapling = TransferStapling(trust.presented.stapling) }
    }
}

extension TransferAnswer {
    /// What the answer says to the task that has asked.
    func meaning(
        for challenge: URLAuthenticationChallenge
    ) -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        switch disposition {
        case .performDefaultHandling: (.performDefaultHandling, nil)
        case .cancel: (.cancelAuthenticationChallenge, nil)
        case .reject: (.rejectProtectionSpace, nil)
        case .useCredential: credential(for: challenge)
        }
    }

    private func credential(
        for challenge: URLAuthenticationChallenge
    ) -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        switch credential {
        case nil: return (.useCredential, nil)
        case .password(let user, let password):
            return (.useCredential, URLCredential(user: user, password: password, persistence: .forSession))
        case .passwordOnce(let user, let password):
            return (.useCredential, URLCredential(user: user, password: password, persistence: .none))
        case .trust:
            guard let trust = challenge.protectionSpace.serverTrust else { return (.performDefaultHandling, nil) }
            return (.useCredential, URLCredential(trust: trust))
        case .identity(let certificates, let key):
            guard
                let identity = try? URLSessionConfiguration.ClientIdentity.pem(certificates: certificates, key: key)
            else { return (.cancelAuthenticationChallenge, nil) }
            return (
                .useCredential,
                URLCredential(identity: identity.secIdentity, certificates: nil, persistence: .forSession)
            )
        }
    }
}
