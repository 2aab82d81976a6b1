// The network of a simulated world: names, attempts to connect, and wires to one server. How reliable it is follows
// from the weather that the seed has made.

import URLLoadingLoopbackServer
import URLLoadingSystem
import URLLoadingTestSupport

/// How reliable everything is, in per cent.
struct Weather {
    /// How many attempts to connect are refused, find no descriptor, or never end.
    var refused = 0
    var shortage = 0
    var unanswered = 0
    /// How many connections break, and how many fall silent.
    var reset = 0
    var stalled = 0
    /// How long everything takes.
    var latency = Duration.milliseconds(1)

    /// Whether what is sent may come to nothing without a word.
    var isSilent: Bool { unanswered > 0 || stalled > 0 }

    /// Some weather; half of all worlds have a network without faults, so that a fault of the library
    /// cannot hide behind those.
    static func drawn(_ chance: inout SeededRandom) -> Weather {
        var weather = Weather()
        weather.latency = .microseconds([50, 1_000, 20_000, 150_000].randomElement(using: &chance) ?? 50)
        guard chance.chance(50) else { return weather }
        weather.refused = [0, 5, 30].randomElement(using: &chance) ?? 0
        weather.shortage = [0, 0, 10].randomElement(using: &chance) ?? 0
        weather.unanswered = [0, 0, 10].randomElement(using: &chance) ?? 0
        weather.reset = [0, 10, 40].randomElement(using: &chance) ?? 0
        weather.stalled = [0, 0, 15].randomElement(using: &chance) ?? 0
        return weather
    }
}

/// Connects clients to the server of a world.
final class Network: Dialer, Resolver {
    var weather = Weather()
    /// Most connections that a client may have to one host.
    var limit = Int.max
    /// Whether connections serve several requests at a time, and how many.
    var isShared = false
    var streams = 1
    /// The server of the world.
    var server: StreamServer?
    /// The connections, by their numbers from 1 on.
    private(set) var wires: [Wire] = []
    /// Ends of streams that are open.
    let ends = OpenCounter()
    /// When an attempt has failed that a task may have to tell of.
    private(set) var failures = 0
    /// Look-ups under way.
    private var lookUps = 0
    /// Attempts under way, by address.
    private var attempts: [String: Int] = [:]
    private var clients: [Client] = []
    /// How often later requests were to have new connections.
    private var flushes = 0
    /// How often before the look-up that is just answered had begun; its answer is dialled at once.
    private var flushesBeforeLookUp: Int?
    private unowned let world: World

    /// A client's end of a connection, which belongs to the client.
    private struct Client {
        let place: String
        weak var end: MemoryStream?
        /// It takes nothing more: the server has said so, or later requests are to have new connections.
        var isDraining = false

        var isOpen: Bool { end?.isOpen ?? false }
    }

    init(_ world: World) { self.world = world }

    /// Whether a connection is of no use any more, so that what was asked for on it may be asked for once more.
    func isLost(_ number: Int) -> Bool { wires[number - 1].fault != nil || !clients[number - 1].isOpen }

    /// Whether a fault of the network has befallen any connection. A request may have gone with it
    /// that no server has seen.
    var hasBroken: Bool { wires.contains { $0.fault != nil } }

    /// The server lets a connection run out, which then does not count any more (H2.8).
    func noteDraining(_ number: Int) { clients[number - 1].isDraining = true }

    /// Later requests are to have new connections: one that is shared, and would have served them, drains (B1.26), as
    /// soon as it stands. One that is not keeps its place until it is closed.
    func noteFlush() {
        guard isShared else { return }
        flushes += 1
        for index in clients.indices where clients[index].isOpen { clients[index].isDraining = true }
    }

    /// Ends what is left.
    func abandon() {
        for wire in wires { wire.abandon() }
    }

    // MARK: Names

    func addressesAtHand(_ host: String, port: Int) -> [SocketAddress]? {
        SocketAddress(literal: host, port: port).map { [$0] }
    }

    func forget(_ host: String, port: Int) { world.tell("\(host) is looked up anew next time") }

    func resolve(
        _ host: String, port: Int, completion: @escaping (Result<[SocketAddress], ResolverFailure>) -> Void
    ) -> any Resolution {
        world.tell("look-up of \(host)")
        lookUps += 1
        let flushesBefore = flushes
        let step = Step(world) { [self] in lookUps -= 1 }
        step.run(after: world.draw(.microseconds(20)...weather.latency + .milliseconds(5))) { [self] in
            lookUps -= 1
            let isShort = world.chance.chance(weather.shortage)
            guard !isShort else {
                failures += 1
                let shortage = SystemError(errno: EMFILE, call: "socket")
                return completion(
                    .failure(
                        ResolverFailure(reason: .temporary, code: 0, host: host, message: "short", shortage: shortage)))
            }
            flushesBeforeLookUp = flushesBefore
            completion(.success([Self.address(of: host)].compactMap { SocketAddress(literal: $0, port: port) }))
            flushesBeforeLookUp = nil
        }
        return step
    }

    /// An address for each host, so that limits can be counted by address.
    private static func address(of host: String) -> String { host == "one.test" ? "10.0.0.1" : "10.0.0.2" }

    /// Whether a request that waits for a host could be served, where connections serve so many already, and `unseen`
    /// requests have not come whole: by a connection that stands, or by a new one that the library does not open.
    func hasRoom(for host: String, _ served: [Int: Int], unseen: Int) -> Bool {
        let place = Self.address(of: host) + ":80"
        guard lookUps == 0, attempts[place, default: 0] == 0 else { return false }
        let open = clients.indices.filter { clients[$0].place == place && clients[$0].isOpen }
        let most = isShared ? streams : 1
        // Where one has fallen silent, a request may be on it that no server sees. When a client hears that
        // one drains is not known.
        let isUnclear = clients.indices.contains {
            clients[$0].place == place && (wires[$0].fault != nil || clients[$0].isOpen && clients[$0].isDraining)
        }
        guard !isUnclear else { return false }
        let mayDial = isShared ? open.isEmpty : open.count < limit
        let places = open.map { max(0, most - served[$0 + 1, default: 0]) }
        return mayDial || places.reduce(0, +) > unseen
    }

    // MARK: Connections

    func dial(
        _ address: SocketAddress, options: DialOptions,
        completion: @escaping (Result<any ByteStream, SystemError>) -> Void
    ) -> any DialAttempt {
        let place = address.description
        let flushesBefore = flushesBeforeLookUp ?? flushes
        attempts[place, default: 0] += 1
        let count = attempts[place, default: 0] + clients.count { $0.place == place && $0.isOpen && !$0.isDraining }
        if count > limit { world.complain("\(count) connections to \(place), \(limit) allowed") }
        world.tell("connects to \(place)")
        let step = Step(world) { [self] in
            attempts[place, default: 0] -= 1
            world.tell("gives up connecting to \(place)")
        }
        let fate = Int.random(in: 0..<100, using: &world.chance)
        let delay = world.draw(weather.latency...weather.latency + .milliseconds(5))
        switch fate {
        case ..<weather.unanswered: step.hang()
        case ..<(weather.unanswered + weather.refused): step.run(after: delay) { fail(ECONNREFUSED) }
        case ..<(weather.unanswered + weather.refused + weather.shortage): step.run(after: .zero) { fail(EMFILE) }
        default:
            step.run(after: delay) { [self] in
                completion(.success(connect(place, address, isDraining: flushesBefore < flushes)))
            }
        }
        func fail(_ number: Int32) {
            failures += 1
            attempts[place, default: 0] -= 1
            completion(.failure(SystemError(errno: number, call: "connect")))
        }
        return step
    }

    private func connect(_ place: String, _ address: SocketAddress, isDraining: Bool) -> MemoryStream {
        let (client, near) = MemoryStream.pair(on: world.reactor, second: address, counter: ends)
        let (far, server) = MemoryStream.pair(on: world.reactor, counter: ends)
        var plan: (fault: WireFault, after: Int)?
        let fate = Int.random(in: 0..<100, using: &world.chance)
        let after = Int.random(in: 1...(chanceOfLength()), using: &world.chance)
        if fate < weather.reset { plan = (.reset, after) }
        if fate >= weather.reset, fate < weather.reset + weather.stalled { plan = (.stall, after) }
        let wire = Wire(
            number: wires.count + 1, near: near, far: far, latency: weather.latency, plan: plan, in: world)
        attempts[place, default: 0] -= 1
        clients.append(Client(place: place, end: client, isDraining: isDraining))
        wires.append(wire)
        world.tell("connection \(wire.number) to \(place) stands")
        self.server?.serve(server)
        return client
    }
}

extension Network {
    /// Up to how many bytes a connection lasts that does not last.
    private func chanceOfLength() -> Int { [200, 3_000, 60_000].randomElement(using: &world.chance) ?? 200 }
}

/// Something of a network that takes its time, and may be given up meanwhile.
private final class Step: Resolution, DialAttempt {
    private let world: World
    private let onCancel: () -> Void
    private var timer: LoopTimer?
    private var isOver = false

    init(_ world: World, onCancel: @escaping () -> Void = {}) {
        self.world = world
        self.onCancel = onCancel
        world.reactor.hold(self)
    }

    func run(after delay: Duration, _ work: @escaping () -> Void) {
        let timer = world.reactor.makeTimer { [unowned self] in
            guard end() else { return }
            work()
        }
        // Never before its caller has returned.
        timer.set(elapsed: world.now + max(delay, .nanoseconds(1)))
        self.timer = timer
    }

    func hang() {}

    func cancel() { if end() { onCancel() } }

    private func end() -> Bool {
        guard !isOver else { return false }
        isOver = true
        timer?.clear()
        world.reactor.later { [self] in
            timer = nil
            world.reactor.release(self)
        }
        return true
    }
}
