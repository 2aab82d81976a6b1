// epoll and the table of what is registered with it. A registration's token carries the generation of its table slot:
// an event for a descriptor closed earlier in the same batch finds another generation and is dropped.
// Must not know what kind of thing is registered.

/// Something that has a descriptor registered with a poller.
protocol PollTarget: AnyObject {
    /// Readiness as epoll tells it. The receiver is kept alive for the duration of the call.
    func pollReported(_ events: PollEvents)
}

/// epoll's readiness mask.
struct PollEvents: OptionSet, Sendable {
    let rawValue: UInt32

    static let input = PollEvents(rawValue: urlloading_epoll_in)
    static let output = PollEvents(rawValue: urlloading_epoll_out)
    static let urgent = PollEvents(rawValue: urlloading_epoll_pri)
    static let peerFinished = PollEvents(rawValue: urlloading_epoll_rdhup)
    static let hangUp = PollEvents(rawValue: urlloading_epoll_hup)
    static let error = PollEvents(rawValue: urlloading_epoll_err)
    static let edgeTriggered = PollEvents(rawValue: urlloading_epoll_et)

    /// What a stream registers for, once in its life.
    static let stream: PollEvents = [.input, .output, .urgent, .peerFinished, .edgeTriggered]
    /// What a listener registers for.
    static let listener: PollEvents = [.input, .edgeTriggered]
}

/// One epoll descriptor and its registrations.
final class Poller {
    // `@exclusivity(unchecked)`: as in `Reactor`; a target is told when the table is left alone.

    /// Names a registration; stale ones are recognised.
    struct Token: Equatable {
        fileprivate let raw: UInt64
        fileprivate var index: Int { Int(truncatingIfNeeded: raw & 0xFFFF_FFFF) }
    }

    private struct Slot {
        var generation: UInt32 = 0
        // Unowned: a target takes itself out in its deinit, so that a forgotten stream closes its descriptor.
        unowned var target: (any PollTarget)?
        /// What must not go although there may be no other reference to it: an attempt that goes on without its caller.
        var keeper: AnyObject?
    }

    /// Picked by feel: a batch small enough that the mailbox is looked at often, large enough to save system calls.
    static let batchSize: Int32 = 256
    private static let wakeToken = UInt64.max
    /// How long a loop without epoll (descriptors had run out when it started) sleeps before it looks around.
    private static let blindWaitInMilliseconds: Int32 = 10

    /// What other threads use to end a wait.
    @exclusivity(unchecked) private(set) var wakeSignal: WakeSignal?
    @exclusivity(unchecked) private var epoll: Descriptor?
    @exclusivity(unchecked) private var slots: [Slot] = []
    @exclusivity(unchecked) private var freeSlots: [Int] = []
    /// Whether the last wait has answered with everything that was ready.
    @exclusivity(unchecked) private(set) var sawEverything = false
    private let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: Int(Poller.batchSize))

    init() {
        // Without descriptors the loop still runs its mailbox and timers; `add` tries again and reports the error.
        try? open()
    }

    deinit {
        events.deallocate()
    }

    // MARK: Registrations

    /// Registers a descriptor, once in its life.
    ///
    /// The target is not retained.
    func add(_ target: any PollTarget, descriptor: Int32, events: PollEvents) throws(SystemError) -> Token {
        try open()
        let index = freeSlots.popLast() ?? slots.count
        if index == slots.count {
            slots.append(Slot())
        }
        let token = Token(raw: UInt64(slots[index].generation) << 32 | UInt64(UInt32(truncatingIfNeeded: index)))
        let raw = epollDescriptor
        let outcome = Platform.call { urlloading_epoll_add(raw, descriptor, events.rawValue, token.raw) }
        if outcome.failed {
            freeSlots.append(index)
            throw SystemError(errno: outcome.error, call: "epoll_ctl")
        }
        slots[index].target = target
        return token
    }

    /// Keeps an object alive with a registration, until `release` or its end.
    func keep(_ object: AnyObject, with token: Token) {
        guard let index = validIndex(token.raw) else { return }
        slots[index].keeper = object
    }

    /// Ends `keep`.
    func release(_ token: Token) {
        guard let index = validIndex(token.raw) else { return }
        // Order: taken out before it is released, because a deinit may use the table.
        var kept: AnyObject?
        swap(&kept, &slots[index].keeper)
    }

    /// Ends every `keep`; true if there was one.
    func releaseAll() -> Bool {
        var kept: [AnyObject] = []
        for index in slots.indices {
            guard let keeper = slots[index].keeper else { continue }
            kept.append(keeper)
            slots[index].keeper = nil
        }
        return !kept.isEmpty
    }

    /// Ends a registration.
    ///
    /// The kernel forgets the descriptor when it is closed, so this is no system call.
    func remove(_ token: Token) {
        guard let index = validIndex(token.raw) else { return }
        slots[index].generation &+= 1
        slots[index].target = nil
        var kept: AnyObject?
        swap(&kept, &slots[index].keeper)
        freeSlots.append(index)
    }

    // MARK: Waiting

    /// Waits for events, at most `milliseconds` (-1: until there is one).
    ///
    /// Returns how many there are.
    func wait(milliseconds: Int32) -> Int {
        if epoll == nil {
            sawEverything = false
            waitBlindly(milliseconds)
            return 0
        }
        let raw = epollDescriptor
        let count = PollSight.wait(milliseconds: milliseconds) { epoll_wait(raw, events, Self.batchSize, $0) }
        // A full batch may have left some for the next wait.
        sawEverything = count >= 0 && count < Self.batchSize
        // A failure here can only be EINTR, twice: an empty batch, and the loop goes on.
        return max(0, Int(count))
    }

    /// How many descriptors can have been ready at once, those included that were closed when they were told; none
    /// where the loop cannot wait for any.
    var descriptorLimit: Int { epoll == nil ? 0 : slots.count + 1 }

    /// Tells the targets of the first `count` events.
    func dispatch(_ count: Int) {
        for position in 0..<count {
            let token = urlloading_epoll_token(events + position)
            guard token != Self.wakeToken, let index = validIndex(token), let target = slots[index].target else {
                continue
            }
            target.pollReported(PollEvents(rawValue: urlloading_epoll_events(events + position)))
        }
    }

    // MARK: Private steps

    private var epollDescriptor: Int32 {
        switch epoll {
        case .some(let descriptor): descriptor.raw
        case .none: -1
        }
    }

    private func validIndex(_ token: UInt64) -> Int? {
        let index = Int(truncatingIfNeeded: token & 0xFFFF_FFFF)
        guard index < slots.count, slots[index].generation == UInt32(truncatingIfNeeded: token >> 32) else {
            return nil
        }
        return index
    }

    private func open() throws(SystemError) {
        guard epoll == nil else { return }
        let outcome = Platform.call { urlloading_epoll_create() }
        if outcome.failed {
            throw SystemError(errno: outcome.error, call: "epoll_create1")
        }
        let descriptor = Descriptor(owning: outcome.value)
        // Each at once: where few are left even one that is given back soon may be the one that Dispatch needs now.
        try DescriptorLimit.check(descriptor.raw, call: "epoll_create1")
        let signal = try WakeSignal(counting: false)
        try DescriptorLimit.check(signal.raw, call: "eventfd")
        // Edge-triggered: every write is a new event, so the counter is never read.
        let registered = Platform.call {
            urlloading_epoll_add(
                descriptor.raw, signal.raw, PollEvents([.input, .edgeTriggered]).rawValue, Self.wakeToken)
        }
        if registered.failed {
            throw SystemError(errno: registered.error, call: "epoll_ctl")
        }
        epoll = consume descriptor
        wakeSignal = signal
    }

    private func waitBlindly(_ milliseconds: Int32) {
        let limit = Self.blindWaitInMilliseconds
        Platform.pause(milliseconds: milliseconds < 0 ? limit : min(milliseconds, limit))
        try? open()
    }
}
