// How requests on a lane may end, and what is held against those that ended otherwise: what was asked for, and the
// books of the bad network in between.

import Foundation
import URLLoading
import URLLoadingLoopbackServer

extension Lane {
    /// What a request should come to.
    struct Expectation: Sendable {
        var status = 200
        var body: [UInt8]
        var mayBeCancelled = false
        var mustTimeOut = false
        /// The server gives up in the midst of the answer.
        var isBrokenOff = false
        /// What the last answer comes over, where that is not the protocol of the lane.
        var lastProtocol: LaneProtocol?
    }

    /// Says whether a request ended as it may; true where its answer is right.
    @discardableResult
    func judge(_ ending: Ending, _ what: String, _ expected: Expectation, since start: ContinuousClock.Instant)
        -> Bool
    {
        let verdict = verdict(ending, expected, start)
        ledger.judge(what, kind.rawValue, verdict)
        if case .right = verdict { return true }
        return false
    }

    private func verdict(_ ending: Ending, _ expected: Expectation, _ start: ContinuousClock.Instant) -> Ledger.Verdict
    {
        let entries = ending.ports.map { $0.flatMap { proxy?.books.entry(clientPort: $0) } }
        if let error = ending.error {
            guard let code = ending.code else { return .wrong("not an URLError: \(error)") }
            if code == .cancelled, expected.mayBeCancelled { return .cancelled }
            if code == .timedOut, expected.mustTimeOut { return .right }
            // A download has left nothing, and a handler is told of nothing.
            if code == .networkConnectionLost, expected.isBrokenOff, expected.body.starts(with: ending.body) {
                return .right
            }
            // A handshake that failed has no port, and may be that of a connection which was
            // dialled for another request.
            let isKnown = !entries.isEmpty && !entries.contains { $0 == nil }
            let isExplained =
                isKnown ? entries.contains { $0?.isHarmed == true } : proxy?.books.wasHarmed(since: start) == true
            let text = "\(code.rawValue) \((error as NSError).localizedDescription)"
            guard isExplained, code != .cancelled, code != .unknown else {
                return .unexplained("\(text); ports \(ending.ports), faults \(describe(entries))")
            }
            return .failed("\(code.rawValue)")
        }
        if expected.mustTimeOut { return .wrong("an answer in place of a time-out") }
        if expected.isBrokenOff { return .wrong("an answer of which the server has sent a part") }
        if let fault = protocolFault(ending, expected) { return .wrong(fault) }
        if ending.status == expected.status, ending.body == Data(expected.body) { return .right }
        if kind == .dirty,
            entries.contains(where: { $0.map { $0.isComplete && hasDelivered(ending.body, $0) } ?? false })
        {
            return .asDelivered
        }
        let same = zip(ending.body, expected.body).prefix { $0 == $1 }.count
        let text =
            "status \(ending.status), \(ending.body.count) bytes of \(expected.body.count), the same up to \(same)"
        return .wrong("\(text); ports \(ending.ports), faults \(describe(entries))")
    }

    /// What is wrong with the protocols that have carried an answer.
    private func protocolFault(_ ending: Ending, _ expected: Expectation) -> String? {
        let last = expected.lastProtocol ?? ledger.spoken
        let isRight =
            ending.protocols.last == last.metricsName
            && ending.protocols.dropLast().allSatisfy { $0 == ledger.spoken.metricsName }
        return isRight ? nil : "carried by \(ending.protocols)"
    }

    private func hasDelivered(_ body: Data, _ entry: FaultBooks.Entry) -> Bool {
        DeliveredBodies(in: entry.delivered, of: ledger.spoken).contain(body)
    }

    private func describe(_ entries: [FaultBooks.Entry?]) -> String {
        func list(_ faults: [Fault], _ sign: String) -> [String] {
            faults.map { "\(sign)\($0.kind.rawValue) at \($0.position)" }
        }
        return entries.map { entry in
            entry.map { (list($0.toServer, "> ") + list($0.toClient, "< ")).joined(separator: ", ") } ?? "unknown"
        }.joined(separator: "; ")
    }
}
