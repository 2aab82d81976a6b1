// How other threads reach what a shard of an engine keeps on its loop, and whether it keeps anything: it is made when
// the first load is on its way to it, and until then nothing that concerns the whole engine wakes its loop.

import Synchronization
import URLLoadingPolicy
import URLLoadingSystem

/// The way to one shard of an engine.
package final class EnginePort: Sendable {
    let shard: Int
    let loop: Loop
    /// What the shard has done.
    let totals = EngineTotals()
    private let configuration: EngineConfiguration
    private let key = ResidentKey<LoopCore>()
    private let nextID: Atomic<LoadID>
    private let stage = Atomic<Stage>(.unused)

    /// What there is of the shard.
    private enum Stage: UInt8, AtomicRepresentable {
        /// There is no shard, and none was needed yet.
        case unused
        /// There is no shard and never will be: the engine has ended first.
        case closed
        /// There is no shard yet, but a command is on its way to the loop: the first one makes the shard.
        case awaited
        /// It was made. It may have gone since.
        case made
    }

    init(shard: Int = 0, loop: Loop, configuration: EngineConfiguration) {
        self.shard = shard
        self.loop = loop
        self.configuration = configuration
        nextID = Atomic(ShardRules.firstNumber(of: shard))
    }

    /// Names a new load.
    func makeID() -> LoadID { nextID.wrappingAdd(1, ordering: .relaxed).oldValue }

    // MARK: From any thread

    /// Hands a load over to the loop.
    func submit(_ load: any LoopCommand) {
        if stage.load(ordering: .relaxed) == .unused {
            _ = stage.compareExchange(expected: .unused, desired: .awaited, ordering: .relaxed)
        }
        loop.submit(load)
    }

    /// Runs `work` on the loop, if the shard lives there or is about to.
    func tell(_ work: @escaping @Sendable (LoopCore) -> Void) {
        switch stage.load(ordering: .relaxed) {
        case .unused, .closed: return
        case .awaited, .made: break
        }
        loop.run { [self] reactor in
            if let core = core(on: reactor) { work(core) }
        }
    }

    /// What is seen on the loop of what the shard keeps there; nil where it keeps nothing.
    func look<Seen: Sendable>(_ look: @escaping @Sendable (LoopCore) -> Seen) async -> Seen? {
        switch stage.load(ordering: .relaxed) {
        case .unused, .closed: return nil
        case .awaited, .made: break
        }
        return await withCheckedContinuation { continuation in
            loop.run { [self] reactor in continuation.resume(returning: core(on: reactor).map(look)) }
        }
    }

    /// Ends the shard: at once, with every load cancelled, or when the last load has ended.
    func shutDown(immediately: Bool) {
        if stage.compareExchange(expected: .unused, desired: .closed, ordering: .relaxed).exchanged { return }
        tell { $0.shutDown(immediately: immediately) }
    }

    // MARK: On the loop

    /// What lives on the loop; nil where it has ended.
    func core(on reactor: Reactor) -> LoopCore? {
        if let core = reactor.resident(key) { return core }
        guard stage.load(ordering: .relaxed) == .awaited else { return nil }
        return LoopCore(reactor: reactor, configuration: configuration, port: self)
    }

    /// From now on this lives on the loop.
    func made(_ core: LoopCore, on reactor: Reactor) {
        stage.store(.made, ordering: .relaxed)
        reactor.setResident(key, core)
    }

    /// Nothing lives on the loop any more.
    func ended(on reactor: Reactor) {
        reactor.setResident(key, nil)
    }
}
