// The list of a task's events, with ends that come between any two steps of its delivery.

import Foundation
import Testing
import URLLoadingEngine

@testable import URLLoading

@Suite("The list of a task's events")
struct TaskMailboxTests {
    /// The two ways in which an end comes that no question may hold up.
    enum Ending: CaseIterable {
        case hop, abandoned
    }

    @Test(
        "B6.8, B1.31: an end that waits for no answer is told whenever it comes, and no body behind an open question is",
        arguments: Ending.allCases)
    func ends(ending: Ending) {
        let lists = ["", "q", "d", "qd", "dq", "qq", "dqd", "qdqd", "ddqqd", "qdd"]
        for list in lists {
            for arrivals in 0...list.count {
                for moment in 0..<(3 * list.count + 4) {
                    var run = Run(list, arrivingLater: arrivals, ending, at: moment)
                    run.deliver()
                    #expect(run.hasEnded, "\(list), \(arrivals) later, the end after \(moment) steps: \(run.told)")
                    #expect(
                        !run.told.contains("qd"),
                        "\(list), \(arrivals) later, the end after \(moment) steps: \(run.told)"
                    )
                }
            }
        }
    }

    @Test(
        "Pieces of the body that are dropped make room for others, like those that are told", arguments: Ending.allCases
    )
    func untoldBody(ending: Ending) throws {
        var mailbox = TaskMailbox()
        _ = mailbox.post(.response(URLResponse()))
        var events = mailbox.take()
        let question = events.popLast()
        #expect(question != nil && events.isEmpty)
        let token = mailbox.beginWaiting()
        guard token != nil, case .wait = mailbox.goOn(returning: &events) else {
            Issue.record("the question holds nothing up")
            return
        }
        let (_, demand) = mailbox.post(body: Data(count: TaskMailbox.highWaterMark))
        guard case .pause = demand else {
            Issue.record("reading goes on")
            return
        }
        let isScheduled = ending == .hop ? mailbox.post(Run.end) : mailbox.abandonWaiting()
        #expect(isScheduled)
        guard case .data(let data)? = mailbox.take().last else {
            Issue.record("the body is not there any more")
            return
        }
        #expect(!mailbox.tellsBody)
        let goesOn = mailbox.delivered(bytes: data.count)
        #expect(goesOn, "the reader is told to go on")
    }

    @Test("The mailbox knows that a question stands before an end, whichever of the two comes first")
    func questionBeforeEnd() {
        let end = TaskEvent.hopEnded(HopEnd(failure: nil, url: nil, body: nil, records: []))
        for endsFirst in [true, false] {
            var mailbox = TaskMailbox()
            _ = mailbox.post(.response(URLResponse()))
            if endsFirst { _ = mailbox.post(end) }
            var events = mailbox.take()
            events.removeLast()
            #expect(!mailbox.isWaitingBeforeEnd)
            let token = mailbox.beginWaiting()
            #expect(token != nil)
            guard case .wait = mailbox.goOn(returning: &events) else {
                Issue.record("the question holds nothing up")
                return
            }
            #expect(mailbox.isWaitingBeforeEnd == endsFirst)
            if !endsFirst { _ = mailbox.post(end) }
            #expect(mailbox.isWaitingBeforeEnd)
            mailbox.tellingEnd()
            #expect(!mailbox.isWaitingBeforeEnd)
        }
    }

    @Test("Events that a delegate's answer allows are told, also if the end comes while the answer is carried out")
    func answeredInTime() throws {
        var mailbox = TaskMailbox()
        _ = mailbox.post(.response(URLResponse()))
        _ = mailbox.post(body: Data(count: 1))
        var events = mailbox.take()
        events.removeLast()
        let begun = mailbox.beginWaiting()
        let token = try #require(begun)
        guard case .accepted = mailbox.accept(answerTo: token) else {
            Issue.record("the first answer is not taken")
            return
        }
        _ = mailbox.post(Run.end)
        #expect(!mailbox.isWaitingBeforeEnd, "an answer that is being carried out needs no limit")
        let isFirst = mailbox.endWaiting(for: token)
        #expect(!isFirst)
        let next = mailbox.goOn(returning: &events)
        if case .next = next {} else { Issue.record("the list does not go on") }
        let rest = mailbox.take()
        #expect(rest.count == 1)
    }

    @Test("B1.110: events that are put back come before those that have arrived since")
    func putBack() {
        var mailbox = TaskMailbox()
        for total in 1...3 {
            _ = mailbox.post(.written(Int64(total)))
            _ = mailbox.post(.waiting)
        }
        var events = mailbox.take()
        _ = mailbox.post(.written(4))
        events.removeLast(5)
        mailbox.putBack(&events)
        let isScheduled = mailbox.post(.waiting)
        #expect(!isScheduled, "it is in the line already")
        let first = mailbox.take()
        #expect(first.count == 1)
        if case .waiting? = first.last {} else { Issue.record("what was put back is not the first") }
        let rest = mailbox.take()
        #expect(rest.count == 2)
        if case .written(4)? = rest.last {} else { Issue.record("what has arrived since is not the next") }
    }

    // By copying those that come back it would take half an hour.
    @Test("B1.110: half a million events, of which one is told at a time, are told in order", .timeLimit(.minutes(5)))
    func manyPutBack() {
        var mailbox = TaskMailbox()
        let count = 250_000
        for total in 1...count {
            _ = mailbox.post(.written(Int64(total)))
            _ = mailbox.post(.waiting)
        }
        var told: Int64 = 0
        var isInOrder = true
        for _ in 0..<2 * count {
            var events = mailbox.take()
            if case .written(let total)? = events.popLast() {
                isInOrder = isInOrder && total == told + 1
                told = total
            }
            mailbox.putBack(&events)
        }
        #expect(isInOrder && told == Int64(count))
        #expect(mailbox.take().isEmpty)
    }

    /// One delivery: `q` is a question without an answer, `d` a piece of the body.
    private struct Run {
        static let end = TaskEvent.hopEnded(
            HopEnd(failure: .cancelled, url: nil, body: nil, records: []))

        private var mailbox = TaskMailbox()
        private var late: [TaskEvent]
        private let ending: Ending
        private var stepsLeft: Int
        private var isScheduled = false
        private(set) var told = ""
        private(set) var hasEnded = false

        init(_ list: String, arrivingLater count: Int, _ ending: Ending, at moment: Int) {
            let events = list.map { $0 == "q" ? TaskEvent.response(URLResponse()) : .data(Data("d".utf8)) }
            late = Array(events.suffix(count))
            self.ending = ending
            stepsLeft = moment
            for event in events.dropLast(count) { post(event) }
        }

        private mutating func post(_ event: TaskEvent) {
            if mailbox.post(event) { isScheduled = true }
        }

        /// Posts what comes from other threads: it comes between two steps of the delivery.
        private mutating func step() {
            stepsLeft -= 1
            if stepsLeft == -1 {
                late = []
                post(Self.end)
                if ending == .abandoned, mailbox.abandonWaiting() { isScheduled = true }
            } else if !late.isEmpty, stepsLeft >= 0 {
                post(late.removeFirst())
            }
        }

        /// Delivers events as a task does, until no event and no step is left.
        mutating func deliver() {
            while isScheduled || stepsLeft >= 0 {
                step()
                guard isScheduled else { continue }
                isScheduled = false
                run()
            }
        }

        private mutating func run() {
            var events = mailbox.take()
            while let event = events.popLast() {
                step()
                tell(event)
                step()
                switch mailbox.goOn(returning: &events) {
                case .next: if events.isEmpty { events = mailbox.take() }
                case .takeAgain: events = mailbox.take()
                case .wait: return
                }
            }
        }

        private mutating func tell(_ event: TaskEvent) {
            switch event {
            case .response: if mailbox.beginWaiting() != nil { told += "q" }
            case .data(let data):
                if mailbox.tellsBody { told += "d" }
                _ = mailbox.delivered(bytes: data.count)
            case .hopEnded:
                mailbox.tellingEnd()
                hasEnded = true
            default: break
            }
        }
    }
}
