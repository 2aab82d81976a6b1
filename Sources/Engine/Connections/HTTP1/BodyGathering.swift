// A body that comes fast is read when several records or segments of it are there: the system lets the loop sleep
// until then, no longer than a moment. Nothing is held back here, and what is there when the body slows down, breaks
// or ends is read as ever.
//
// Only a body of known length is gathered, and not its end: there is no wait where nothing more may come.
//
// Must not know: what is read, and for which receiver.

import URLLoadingPolicy
import URLLoadingSystem

/// How the input of one large body is gathered.
final class BodyGathering {
    // `@exclusivity(unchecked)`: as in `Transaction`.

    @exclusivity(unchecked) private var pace = BodyPace()
    @exclusivity(unchecked) private var isOn = false
    private let stream: any ByteStream
    private let reactor: Reactor
    private let readOn: () -> Void
    private lazy var timer = reactor.makeTimer { [weak self] in self?.timePassed() }

    /// `readOn` reads what is there although no event has told of it.
    init(_ stream: any ByteStream, reactor: Reactor, readOn: @escaping () -> Void) {
        self.stream = stream
        self.reactor = reactor
        self.readOn = readOn
    }

    /// Whether a body of which so much is to come may be gathered. TLS may have taken a part of
    /// it already, and hold it.
    static func isWorthwhile(left: Int64) -> Bool { left >= 2 * Int64(BodyPace.pieceSize) }

    /// So many bytes have been read, and perhaps all there are.
    func noteRead(_ count: Int, isDry: Bool) {
        pace.noteRead(count)
        guard isDry else { return }
        pace.noteDry(at: reactor.nanoseconds)
        guard pace.isFast else { return stop() }
        if !isOn {
            isOn = true
            stream.reportInput(from: BodyPace.pieceSize)
        }
        timer.set(elapsed: reactor.elapsed + .nanoseconds(BodyPace.longestWait))
    }

    /// Has input reported as it comes.
    func stop() {
        guard isOn else { return }
        isOn = false
        timer.clear()
        stream.reportInput(from: 1)
    }

    private func timePassed() {
        pace.noteLull()
        stop()
        readOn()
    }
}
