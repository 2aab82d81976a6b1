// One direction of a faulty connection: bytes in; out of it what is to be sent, waited for and ended, in order. What
// comes out depends on the bytes alone and not on the pieces in which they came. Pure: knows neither sockets nor time.

/// Applies the faults of one direction.
package struct FaultLine {
    /// What is to be done next.
    package enum Step: Equatable {
        /// These bytes go on.
        case send([UInt8])
        /// Nothing for a while.
        case pause(Duration)
        /// Nothing before the next turn of the loop.
        case yield
        /// The end, of both directions.
        case cut
        /// The end of this direction.
        case halfClose
        /// A reset.
        case reset
        /// Nothing before there are more bytes.
        case needMore
    }

    private struct Pace {
        var left: Int
        let piece: Int
        let pause: Step
    }

    /// What has happened, in order.
    package private(set) var fired: [Fault] = []
    private var waiting: ArraySlice<UInt8> = []
    private var faults: ArraySlice<Fault>
    private var position: Int64 = 0
    private var pace: Pace?
    private var pause: Step?
    private var isOver = false
    /// The last bytes that went on, for those that go twice.
    private var tail: ArraySlice<UInt8> = []

    /// A direction to which these are done.
    package init(_ faults: [Fault]) {
        self.faults = faults.sorted { $0.position < $1.position }[...]
    }

    /// The sender has sent something.
    package mutating func take(_ bytes: UnsafeRawBufferPointer) {
        if !isOver { waiting.append(contentsOf: bytes) }
    }

    /// What is to be done now; to be asked until it needs more.
    package mutating func next() -> Step {
        guard !isOver else { return .needMore }
        if let pause {
            self.pause = nil
            return pause
        }
        while let fault = faults.first, fault.position <= position {
            switch fault.action {
            case .delay(let duration):
                guard !waiting.isEmpty else { return .needMore }
                fire(fault)
                return .pause(duration)
            case .throttle(let length, let piece, let duration):
                guard !waiting.isEmpty else { return .needMore }
                fire(fault)
                pace = Pace(left: max(1, length), piece: max(1, piece), pause: .pause(duration))
            case .split(let length, let piece):
                guard !waiting.isEmpty else { return .needMore }
                fire(fault)
                pace = Pace(left: max(1, length), piece: max(1, piece), pause: .yield)
            case .duplicate(let count):
                fire(fault)
                guard !tail.isEmpty else { break }
                return .send(Array(tail.suffix(count)))
            case .corrupt(let mask):
                guard let first = waiting.first else { return .needMore }
                fire(fault)
                waiting[waiting.startIndex] = first ^ mask
            case .cut: return end(fault, .cut)
            case .halfClose: return end(fault, .halfClose)
            case .reset: return end(fault, .reset)
            }
        }
        return waiting.isEmpty ? .needMore : piece()
    }

    private mutating func fire(_ fault: Fault) {
        faults = faults.dropFirst()
        fired.append(fault)
    }

    private mutating func end(_ fault: Fault, _ step: Step) -> Step {
        fire(fault)
        isOver = true
        waiting = []
        return step
    }

    /// The next bytes that go on together.
    private mutating func piece() -> Step {
        var count = waiting.count
        if let next = faults.first { count = Int(min(Int64(count), next.position - position)) }
        if var pace {
            count = min(count, pace.piece, pace.left)
            pace.left -= count
            pause = pace.pause
            self.pace = pace.left > 0 ? pace : nil
        }
        let bytes = Array(waiting.prefix(count))
        waiting = waiting.dropFirst(count)
        position += Int64(count)
        tail = (tail + bytes.suffix(Self.longestRepetition)).suffix(Self.longestRepetition)
        return .send(bytes)
    }

    private static let longestRepetition = 64
}
