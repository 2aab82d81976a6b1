// One connection of a simulated network: bytes go from one end to the other in pieces, later, and perhaps not at all.

import URLLoadingSystem
import URLLoadingTestSupport

/// What goes wrong on a wire.
enum WireFault {
    /// The wire breaks, and both ends see a reset.
    case reset
    /// Nothing comes through any more, and neither end is told.
    case stall
}

/// Carries bytes between a client and a server.
final class Wire: ByteStreamObserver {
    let number: Int
    /// What has gone wrong on it, once it has.
    private(set) var fault: WireFault?
    private(set) var isOver = false

    private let world: World
    private let near: MemoryStream
    private let far: MemoryStream
    private var lanes: [Lane] = []
    /// What goes wrong, and after how many bytes to the client.
    private let plan: (fault: WireFault, after: Int)?
    private let latency: Duration

    /// One direction.
    private final class Lane {
        let source: MemoryStream
        let sink: MemoryStream
        let timer: LoopTimer
        var pieces: [(arrives: Duration, bytes: [UInt8])] = []
        var carried = 0
        var hasEnded = false
        var isFinished = false

        init(from source: MemoryStream, to sink: MemoryStream, timer: LoopTimer) {
            self.source = source
            self.sink = sink
            self.timer = timer
        }
    }

    init(
        number: Int, near: MemoryStream, far: MemoryStream, latency: Duration, plan: (fault: WireFault, after: Int)?,
        in world: World
    ) {
        self.number = number
        self.world = world
        self.near = near
        self.far = far
        self.latency = latency
        self.plan = plan
        for (source, sink) in [(near, far), (far, near)] {
            let index = lanes.count
            lanes.append(
                Lane(from: source, to: sink, timer: world.reactor.makeTimer { [unowned self] in deliver(lanes[index]) })
            )
        }
        near.observer = self
        far.observer = self
        world.reactor.hold(self)
    }

    func streamBecameReadable(_ stream: any ByteStream) {
        for lane in lanes where lane.source === stream { take(lane) }
    }

    func streamBecameWritable(_ stream: any ByteStream) {
        for lane in lanes where lane.sink === stream { deliver(lane) }
    }

    /// Breaks the wire.
    func fail(_ fault: WireFault) {
        guard !isOver, self.fault == nil else { return }
        self.fault = fault
        world.tell("connection \(number): \(fault)")
        if case .reset = fault { end { $0.reset() } }
    }

    private func take(_ lane: Lane) {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while !isOver, !lane.hasEnded, lane.pieces.count < 8 {
            let size = world.chance.chance(70) ? buffer.count : Int.random(in: 1...2_000, using: &world.chance)
            switch buffer.withUnsafeMutableBytes({ lane.source.read(into: .init(rebasing: $0[..<size])) }) {
            case .bytes(let count): add(Array(buffer[..<count]), to: lane)
            case .wouldBlock: return
            case .endOfStream: lane.hasEnded = true
            case .failed: return end { $0.reset() }
            }
        }
        deliver(lane)
    }

    private func add(_ bytes: [UInt8], to lane: Lane) {
        let arrival = world.now + latency + world.draw(.zero ... .milliseconds(2))
        lane.pieces.append((max(arrival, lane.pieces.last?.arrives ?? .zero), bytes))
        if lane.pieces.count == 1 { lane.timer.set(elapsed: lane.pieces[0].arrives) }
    }

    private func deliver(_ lane: Lane) {
        guard !isOver, !isStalled else { return }
        while let piece = lane.pieces.first, piece.arrives <= world.now {
            guard case .bytes(let count) = piece.bytes.withUnsafeBytes({ lane.sink.write($0) }) else { return }
            lane.carried += count
            if count < piece.bytes.count {
                lane.pieces[0].bytes.removeFirst(count)
                return
            }
            lane.pieces.removeFirst()
            if let plan, lane.sink === near, lane.carried >= plan.after { fail(plan.fault) }
            if isOver || isStalled { return }
        }
        if let next = lane.pieces.first { return lane.timer.set(elapsed: next.arrives) }
        if lane.hasEnded { finish(lane) } else if lane.source.hasPendingInput { take(lane) }
    }

    private var isStalled: Bool { if case .stall? = fault { true } else { false } }

    private func finish(_ lane: Lane) {
        guard !lane.isFinished else { return }
        lane.isFinished = true
        lane.sink.shutdownWrite()
        if lanes.allSatisfy(\.isFinished) { end { $0.close() } }
    }

    private func end(_ close: (MemoryStream) -> Void) {
        guard !isOver else { return }
        isOver = true
        for lane in lanes { lane.timer.clear() }
        close(near)
        close(far)
        world.reactor.release(self)
    }

    /// Lets go of it at the end of a run.
    func abandon() { end { $0.close() } }
}
