// A server that cuts a download at given places, by a reset, by silence or by the death of the process that
// downloads. It acts when the last byte before the place has been handed to the kernel, which takes the
// rest of the way as it likes.

import Foundation
import Synchronization
import URLLoadingLoopbackServer

/// Downloads from a server of its own that does what it can against it.
final class Torment: Sendable {
    private enum Cut: String, CaseIterable, Sendable {
        case reset, stall, kill
    }

    private struct State: Sendable {
        var cuts: ArraySlice<(place: Int64, kind: Cut)> = []
        /// Counts the answers: what was meant for an earlier one is not done to a later.
        var answer = 0
        var done: [Cut: Int] = [:]
        var server: LoopbackServer?
    }

    private let plan: TormentPlan
    private let lives: Lives
    private let state: Mutex<State>
    /// Opened at the end, for connections that hang.
    private let end = ServerGate()

    init(_ plan: TormentPlan, kills: Bool) throws {
        self.plan = plan
        lives = try Lives()
        let kinds: [Cut] = kills ? Cut.allCases : [.reset, .stall]
        let cuts = plan.offsets.enumerated().map { (place: $1, kind: kinds[$0 % kinds.count]) }
        state = Mutex(State(cuts: cuts[...]))
    }

    /// Torments to the end, and says how it went; whether it went well.
    func run() async -> Bool {
        let interruption = Interruption { [lives] in lives.remove() }
        defer {
            lives.remove()
            interruption.end()
        }
        let begin = ContinuousClock.now
        guard let server = try? LoopbackServer.start(router: { [self] in answer($0) }) else { return false }
        state.withLock { $0.server = server }
        let count = await lives.run(server.url())
        end.open()
        let stats = server.stats
        state.withLock { $0.server = nil }
        await server.stop()
        let time = begin.duration(to: .now)
        let done = state.withLock { $0.done }
        let all = done.values.reduce(0, +)
        print("bytes \(plan.bytes), seed \(plan.seed)")
        print(
            "cuts \(all): \(done[.reset] ?? 0) resets, \(done[.stall] ?? 0) stalls, \(done[.kill] ?? 0) kills; "
                + "\(count ?? 0) lives, \(stats.requests) requests")
        let isRight = lives.report(plan.bytes, in: time)
        print("sent by the server \(stats.bytesWritten) bytes, with what was lost on the way")
        return count != nil && isRight && all == plan.cuts
    }

    /// Called on the server's loop.
    private func answer(_ request: ServerRequest) -> ServerResponse {
        let whole = ServerResponse.generated(length: plan.bytes, tag: "\"torment\"", to: request)
        let start = plan.bytes - Self.length(of: whole)
        let (cut, number, server) = state.withLock { state in
            state.answer += 1
            return (state.cuts.first, state.answer, state.server)
        }
        guard let cut, whole.status != 416, let server else { return whole }
        // A place that is behind us already: as soon as something can be cut.
        let length = max(1, min(cut.place, plan.bytes) - start)
        let head = Self.head(of: whole, from: start, of: plan.bytes)
        let target = server.stats.bytesWritten + Int64(head.count) + length
        let gate = ServerGate()
        Task { [self] in
            guard await server.wait(until: { $0.bytesWritten >= target }) != nil else { return }
            let isDue = state.withLock { state in
                guard state.answer == number, !state.cuts.isEmpty else { return false }
                state.cuts.removeFirst()
                state.done[cut.kind, default: 0] += 1
                return true
            }
            guard isDue else { return gate.open() }
            switch cut.kind {
            case .reset: gate.open()
            case .stall: end.whenOpen { gate.open() }
            case .kill:
                lives.kill()
                gate.open()
            }
        }
        return .script([.send(head), .sendGenerated(length: length, from: start), .wait(gate), .reset])
    }

    private static func length(of response: ServerResponse) -> Int64 {
        if case .generated(let length, _) = response.body { length } else { 0 }
    }

    private static func head(of response: ServerResponse, from start: Int64, of total: Int64) -> [UInt8] {
        var lines = ["HTTP/1.1 \(response.status) \(response.status == 206 ? "Partial Content" : "OK")"]
        lines.append("Content-Length: \(total - start)")
        for index in 0..<response.fields.count {
            lines.append("\(response.fields.name(at: index)): \(response.fields.value(at: index))")
        }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }
}

/// Downloads from a server elsewhere, which cuts nothing: the downloader cancels and dies by itself.
struct DistantTorment {
    let plan: TormentPlan
    let url: URL

    init(_ plan: TormentPlan, url: URL) {
        self.plan = plan
        self.url = url
    }

    func run() async -> Bool {
        guard let lives = try? Lives() else { return false }
        let interruption = Interruption { lives.remove() }
        defer {
            lives.remove()
            interruption.end()
        }
        let begin = ContinuousClock.now
        let count = await lives.run(url.absoluteString, deaths: plan.offsets)
        let time = begin.duration(to: .now)
        // Every life but the last was a death's. One that was due in the last bytes may have come too late.
        let deaths = max(0, (count ?? 1) - 1)
        print("bytes \(plan.bytes), seed \(plan.seed)")
        print("cuts \(deaths): \(deaths) kills; \(count ?? 0) lives")
        let isRight = lives.report(plan.bytes, in: time)
        print("received and not written at most \(lives.folder.mostUnwritten) bytes at a death")
        return count != nil && isRight
    }
}
