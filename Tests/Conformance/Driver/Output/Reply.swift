// The answer to one command: exactly one, whatever happens to the code that should give it. Driver protocol, section 1.

import Foundation
import Synchronization
import URLLoadingTestSupport

/// Answers one command, once; what comes later is dropped, and a reply that is let go unused says so to the runner.
final class Reply: Sendable {
    private let id: Int64?
    private let outbox: Outbox
    private let open: DispatchGroup
    private let isGiven = Atomic<Bool>(false)

    /// `open` is left when the answer has been given to the outbox.
    init(id: Int64?, outbox: Outbox, open: DispatchGroup) {
        self.id = id
        self.outbox = outbox
        self.open = open
        open.enter()
    }

    deinit {
        refuse(.internal("the command ended without an answer"))
    }

    func succeed(_ result: JSONValue = [:]) {
        give(["id": number, "ok": true, "result": result])
    }

    func refuse(_ refusal: Refusal) {
        give([
            "id": number, "ok": false, "problem": .string(refusal.problem), "detail": .string(refusal.detail),
        ])
    }

    private func give(_ answer: JSONValue) {
        guard !isGiven.exchange(true, ordering: .acquiringAndReleasing) else { return }
        var line = JSONWriter.line(answer)
        if line.count >= Self.lineLimit {
            let refusal = Refusal.internal("the answer would be longer than a line may be")
            line = JSONWriter.line([
                "id": number, "ok": false, "problem": .string(refusal.problem),
                "detail": .string(refusal.detail),
            ])
        }
        outbox.send(line)
        open.leave()
    }

    private var number: JSONValue { id.map(JSONValue.integer) ?? .null }

    private static let lineLimit = 64 << 20
}
