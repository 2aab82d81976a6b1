// An owner of transfers that begins nothing, and writes down what a program says to it.

import Foundation
import URLLoadingPolicy
import URLLoadingTestSupport

@testable import URLLoading

/// An owner that welcomes its first program at once, unless told otherwise, and later ones when the test says so. It
/// begins nothing, and hangs up on as many programs before as it is told. One that answers no ends knows none of the
/// tasks.
final class HearingOwner: TransferService {
    /// What was said behind the greetings.
    let words = Watched<[TransferCommand]>([])
    let greetings = Watched<Int>(0)
    let invalidated = Signal()
    private let met: [TransferSummary]
    private let welcomesFirst: Bool
    private let acceptsAtOnce: Bool
    private let answersEnds: Bool
    private let hangUps: Int
    private let program = Guarded<(any TransferChannel)?>(nil)

    init(
        met: [TransferSummary] = [], welcomesFirst: Bool = true, acceptsAtOnce: Bool = true, answersEnds: Bool = true,
        hangUps: Int = 0
    ) {
        self.answersEnds = answersEnds
        self.met = met
        self.hangUps = hangUps
        self.welcomesFirst = welcomesFirst
        self.acceptsAtOnce = acceptsAtOnce
    }

    func welcome() {
        let program = program.value
        for summary in met { program?.send(.met(summary)) }
        program?.send(.welcome)
    }

    /// Answers an order of a task.
    func accept(_ task: UInt64) { program.value?.send(.accepted(task: task)) }

    /// Answers the question for its tasks.
    func answerList() { program.value?.send(.tasks([])) }

    /// Ends the conversation.
    func hangUp() { program.value?.close() }

    func connected(_ channel: any TransferChannel) {}

    func received(_ command: TransferCommand, from channel: any TransferChannel) {
        switch command {
        case .hello:
            program.value = channel
            greetings.change { $0 += 1 }
            if greetings.value <= hangUps { return channel.close() }
            if welcomesFirst, greetings.value == hangUps + 1 { welcome() }
            return
        case .start(let order): if acceptsAtOnce { accept(order.task) }
        case .cancel(let task, _):
            let failure = TransferFailure(code: -999, text: "cancelled", url: "http://127.0.0.1:9/")
            if answersEnds { channel.send(.news(task: task, TransferNews(number: 1, content: .completed(failure)))) }
        case .invalidate:
            channel.send(.invalidated)
            channel.close()
            invalidated.fire()
        case .delivered, .suspend, .resume, .label, .priority, .answer, .list: break
        }
        words.change { $0.append(command) }
    }

    // A channel holds its service: one that stayed here would keep both.
    func disconnected(_ channel: any TransferChannel) { program.change { if $0 === channel { $0 = nil } } }
}

extension BackgroundFolder {
    /// Runs `body` with a session whose owner is this one.
    func withOwner(
        _ owner: HearingOwner, delegate: any URLSessionDelegate, queue: OperationQueue? = nil,
        helper: String = "/nowhere/at/all", _ body: (URLSession) async throws -> Void
    ) async throws {
        try await withListener(owner) {
            let configuration = self.configuration(helper: true)
            // None beside this owner.
            configuration.backgroundHelper = URL(fileURLWithPath: helper)
            let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
            try await body(session)
            session.invalidateAndCancel()
            await owner.invalidated.wait()
        }
    }
}

extension TransferCommand {
    /// What is begun.
    var order: TransferOrder? { if case .start(let order) = self { order } else { nil } }
}

extension TransferSummary {
    /// What an owner tells of a download with the number 1.
    static func ofFirstTask(_ change: (inout TransferOrder) -> Void = { _ in }) -> TransferSummary {
        var order = Rig.download("http://127.0.0.1:9/")
        change(&order)
        return TransferRecord(order, allowed: nil, isDiscretionary: false, now: .now).summary
    }
}
