// What a program makes of the questions of one owner when it has lost that and found another.

import Foundation
import Testing
import URLLoadingPolicy
import URLLoadingTestSupport

@testable import URLLoading

@Suite("Background sessions: questions of owners that are no more", .timeLimit(.minutes(2)))
struct BackgroundQuestionTests {
    /// Gives `body` a background session whose owners these are; afterwards nothing must be left of it.
    private func withSession(
        of owners: AskingOwners, _ body: (URLSession, KeepingJudge) async throws -> Void
    ) async throws {
        let folder = BackgroundFolder()
        try await folder.withListener(owners) {
            let judge = KeepingJudge()
            let session = URLSession(
                configuration: folder.configuration(helper: true), delegate: judge, delegateQueue: nil)
            try await body(session, judge)
            session.invalidateAndCancel()
            await judge.transcript.invalidated.wait()
        }
        #expect(folder.names.isEmpty)
    }

    @Test(
        "B10.37, B10.36: a question of an owner that is no more holds up neither the next one's question nor its end",
        arguments: [true, false])
    func ownerIsLostWhileItAsks(nextAsks: Bool) async throws {
        let owners = AskingOwners(onlyFirst: !nextAsks)
        try await withSession(of: owners) { (session, judge) async throws in
            session.dataTask(with: try #require(URL(string: "http://127.0.0.1:9/"))).resume()
            await judge.handlers.wait { $0.count == 1 }
            owners.hangUp()
            if nextAsks {
                await judge.handlers.wait { $0.count == 2 }
                for handler in judge.handlers.value { handler(.useCredential, nil) }
            }
            await judge.transcript.completed.wait()
            // The answer to the first question is no answer to the second one.
            #expect(owners.answered.value == (nextAsks ? [2] : []))
        }
    }

    @Test(
        "B10.36, B10.37: the end with -997 waits for the answer to no question, whether all owners are lost or the task is",
        arguments: [true, false])
    func everyOwnerIsLostWhileItAsks(forgetsTask: Bool) async throws {
        let owners = AskingOwners(accepts: forgetsTask)
        try await withSession(of: owners) { (session, judge) async throws in
            let task = session.dataTask(with: try #require(URL(string: "http://127.0.0.1:9/")))
            task.resume()
            // A task that the first owner has had, and the second does not know, is lost.
            for number in 1...(forgetsTask ? 1 : 4) {
                await judge.handlers.wait { $0.count == number }
                owners.hangUp()
            }
            await judge.transcript.completed.wait()
            #expect((task.error as? URLError)?.code == .backgroundSessionWasDisconnected)
            #expect(owners.answered.value.isEmpty)
        }
    }
}

/// Owners, one after the other, that ask about a task when it begins, and end it when they are answered. Each question
/// has the number of its owner.
private final class AskingOwners: TransferService {
    /// The numbers of the questions that were answered.
    let answered = Guarded<[UInt64]>([])
    private let onlyFirst: Bool
    private let accepts: Bool
    private let current = Guarded<(number: UInt64, channel: (any TransferChannel)?)>((0, nil))

    /// Where `onlyFirst` is set, those behind the first one end each task at once. Where `accepts` is set, each says
    /// that it has a task's journal.
    init(onlyFirst: Bool = false, accepts: Bool = false) {
        self.onlyFirst = onlyFirst
        self.accepts = accepts
    }

    /// The owner goes.
    func hangUp() {
        let channel = current.withLock { current in
            defer { current.channel = nil }
            return current.channel
        }
        channel?.close()
    }

    func connected(_ channel: any TransferChannel) { current.withLock { $0 = ($0.number + 1, channel) } }

    func received(_ command: TransferCommand, from channel: any TransferChannel) {
        switch command {
        case .hello: channel.send(.welcome)
        case .start(let order):
            let number = current.withLock { $0.number }
            guard number == 1 || !onlyFirst else { return end(order.task, channel) }
            if accepts { channel.send(.accepted(task: order.task)) }
            var challenge = TransferSamples.challenge
            challenge.number = number
            channel.send(.challenged(task: order.task, challenge))
        case .answer(let answer):
            answered.change { $0.append(answer.challenge) }
            end(answer.task, channel)
        case .invalidate:
            channel.send(.invalidated)
            channel.close()
        case .cancel, .suspend, .resume, .label, .priority, .delivered, .list: break
        }
    }

    private func end(_ task: UInt64, _ channel: any TransferChannel) {
        channel.send(.news(task: task, TransferNews(number: 1, content: .completed(nil))))
    }

    // A channel holds its service: one that stayed here would keep both.
    func disconnected(_ channel: any TransferChannel) {
        current.withLock { if $0.channel === channel { $0.channel = nil } }
    }
}

/// Keeps the handlers of challenges, and answers none.
private final class KeepingJudge: NSObject, URLSessionDataDelegate {
    typealias Handler = @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

    let transcript = Transcript()
    let handlers = Watched<[Handler]>([])

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping Handler
    ) {
        handlers.change { $0.append(completionHandler) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        transcript.completed.fire()
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        transcript.invalidated.fire()
    }
}
