// The picture of a task's states in docs/architecture.md is the machine's own: every state that can be reached is
// visited here, and what each event makes of it is a line of the picture.

import Foundation
import Testing
import URLLoadingPolicy
import URLLoadingTestSupport

@Suite("The picture of a task's states")
struct TaskMachinePictureTests {
    @Test("docs/architecture.md shows what the machine does")
    func picture() throws {
        let page = try #require(ProjectFiles.text(of: "docs/architecture.md"))
        let picture = TaskMachinePicture().text
        #expect(page.contains(picture), "the page has to show this:\n\(picture)")
    }
}

/// Every state that a task can reach, and the events that lead there.
private struct TaskMachinePicture {
    /// Something that a driver tells the machine, where it may.
    private enum Event: String, CaseIterable {
        case resume, suspend, cancel, wait, answered, timedOut, submit, takenUp, begin, exchangeEnded, end, complete
    }

    /// The machine after some events, and the wait that is open.
    private struct Played: ~Copyable {
        var machine = TaskMachine()
        var open: WaitNumber?

        init(_ events: [Event]) {
            for event in events { _ = play(event) }
        }

        /// False where the driver has no reason for it.
        mutating func play(_ event: Event) -> Bool {
            switch event {
            case .resume: _ = machine.resume()
            case .suspend: _ = machine.suspend()
            case .cancel: _ = machine.cancel()
            case .wait:
                guard machine.doing == "preparing" else { return false }
                open = machine.wait()
            case .answered:
                guard let open else { return false }
                return machine.answered(open)
            case .timedOut:
                guard let open else { return false }
                return machine.timedOut(open)
            case .submit:
                guard machine.doing == "preparing" else { return false }
                return machine.submit(priority: 0.5)
            case .takenUp:
                guard machine.doing == "submitted" else { return false }
                _ = machine.takenUp(priority: 0.5)
            case .begin:
                guard machine.doing == "preparing" else { return false }
                return machine.begin()
            case .exchangeEnded:
                guard machine.doing == "exchanging" else { return false }
                machine.exchangeEnded()
            case .end:
                guard machine.doing == "preparing" else { return false }
                machine.end()
            case .complete:
                guard machine.doing == "ended" else { return false }
                machine.complete()
            }
            return true
        }

        var state: String {
            machine.phase == .canceling && machine.doing != "ended" ? "\(machine.doing)_cancelled" : machine.doing
        }
    }

    /// As Mermaid draws it.
    var text: String {
        // Whether a task stands still changes what comes of a resumption, so it is a part of what is visited.
        var visited: Set<String> = []
        var toVisit: [[Event]] = [[]]
        var edges: [(from: String, to: String, event: Event)] = []
        while let events = toVisit.first {
            toVisit.removeFirst()
            let before = Played(events)
            let from = before.state
            guard visited.insert("\(from) \(before.machine.phase)").inserted else { continue }
            for event in Event.allCases {
                var after = Played(events)
                guard after.play(event) else { continue }
                toVisit.append(events + [event])
                let to = after.state
                if to != from, !edges.contains(where: { $0 == (from, to, event) }) { edges.append((from, to, event)) }
            }
        }
        let lines = edges.map { "    \($0.from) --> \($0.to): \($0.event.rawValue)" }
        return (["```mermaid", "stateDiagram-v2", "    [*] --> unstarted"] + lines + ["```"]).joined(separator: "\n")
    }
}
