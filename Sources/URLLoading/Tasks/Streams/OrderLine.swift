// What a task that is a connection is asked to do, in order: kept until there is something that carries it out, passed
// on while there is, and answered from memory after the end. A value; `StreamCalls` and `WebSocketCalls` keep it behind
// their locks.
//
// Must not know: what an order says, how it is answered.

/// Orders on their way to what carries them out.
struct OrderLine<Order: Sendable, Handle: Sendable, End: Sendable>: Sendable {
    /// Where an order goes.
    enum Way: Sendable {
        /// It waits for something that carries it out.
        case kept
        case to(Handle)
        /// There is nothing any more that could carry it out.
        case answered
    }

    private var waiting: [Order] = []
    private var handle: Handle?
    /// What orders are answered with once all is over.
    private(set) var end: End?

    /// Takes in an order, or says where it goes.
    mutating func take(_ order: Order) -> Way {
        if end != nil { return .answered }
        if let handle { return .to(handle) }
        waiting.append(order)
        return .kept
    }

    /// The orders that are to be passed on; where there are none, later ones go to the handle by themselves.
    mutating func passOn(to new: Handle) -> [Order] {
        if waiting.isEmpty, end == nil { handle = new }
        defer { waiting = [] }
        return waiting
    }

    /// All is over; gives what was never passed on. Nil where it was over before.
    mutating func close(_ end: End) -> [Order]? {
        guard self.end == nil else { return nil }
        self.end = .some(end)
        handle = nil
        defer { waiting = [] }
        return waiting
    }
}
