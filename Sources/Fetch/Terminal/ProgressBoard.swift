// Which transfers are under way, and how far: a line for each on a terminal, a line now and then elsewhere. Draws at
// most ten times a second, and once a second where nothing comes, so that a stall shows.

import Foundation
import Synchronization

/// The progress of all transfers.
final class ProgressBoard: Sendable {
    private struct Row {
        var figures: ProgressFigures
        var meter = RateMeter()
        /// When its last plain line was written, or when it began.
        var lastLine: Double
    }

    private struct State {
        var rows: [Int: Row] = [:]
        var lastDrawing = 0.0
        var timer: (any DispatchSourceTimer)?
    }

    /// How far apart plain lines are, in seconds; short transfers have none.
    private static let plainPace = 5.0

    private let screen = Screen.standardError
    private let state = Mutex(State())

    /// A transfer begins.
    func begin(_ number: Int, name: String) {
        let now = Self.now
        state.withLock { state in
            state.rows[number] = Row(figures: ProgressFigures(name: name), lastLine: now)
            if state.timer == nil { state.timer = makeTimer() }
        }
    }

    /// A transfer has come so far.
    func report(_ number: Int, done: Int64, total: Int64?, isUpload: Bool) {
        let now = Self.now
        let line = state.withLock { state -> String? in
            guard var row = state.rows[number] else { return nil }
            if row.figures.isUpload != isUpload { row.meter = RateMeter() }
            row.meter.note(done, at: now)
            row.figures.isUpload = isUpload
            row.figures.done = done
            row.figures.total = total
            row.figures.rate = row.meter.rate(at: now)
            defer { state.rows[number] = row }
            guard !screen.isTerminal, now - row.lastLine >= Self.plainPace else { return nil }
            row.lastLine = now
            return ProgressLine.plain(row.figures)
        }
        if let line { screen.write([line]) }
        draw(now, every: 0.1)
    }

    /// A transfer is over.
    func end(_ number: Int) {
        let (isLast, timer) = state.withLock { state in
            state.rows[number] = nil
            defer { if state.rows.isEmpty { state.timer = nil } }
            return (state.rows.isEmpty, state.rows.isEmpty ? state.timer : nil)
        }
        timer?.cancel()
        if isLast { screen.draw([]) } else { draw(Self.now, every: 0) }
    }

    private func draw(_ now: Double, every pace: Double) {
        guard screen.isTerminal else { return }
        let figures = state.withLock { state -> [ProgressFigures] in
            guard now - state.lastDrawing >= pace else { return [] }
            state.lastDrawing = now
            return state.rows.sorted { $0.key < $1.key }.map { row in
                var figures = row.value.figures
                figures.rate = row.value.meter.rate(at: now)
                return figures
            }
        }
        guard !figures.isEmpty else { return }
        let size = screen.size
        // Lines that have left the screen above could not be drawn again.
        screen.draw(figures.prefix(size.rows - 1).map { ProgressLine.bar($0, width: size.columns - 1) })
    }

    private func makeTimer() -> (any DispatchSourceTimer)? {
        guard screen.isTerminal else { return nil }
        let timer = DispatchSource.makeTimerSource(queue: .global())
        timer.schedule(deadline: .now() + 1, repeating: 1)
        timer.setEventHandler { [weak self] in self?.draw(Self.now, every: 0.5) }
        timer.resume()
        return timer
    }

    private static var now: Double { Double(DispatchTime.now().uptimeNanoseconds) * 1e-9 }
}
