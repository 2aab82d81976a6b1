// What is to happen to one connection, in both directions, and how such plans are made up: by a generator of random
// numbers, so that the same seed gives the same plans. Values; knows no sockets.

/// The faults of one connection.
package struct FaultPlan: Sendable, Hashable {
    /// What happens to the client's bytes.
    package var toServer: [Fault]
    /// What happens to the server's bytes.
    package var toClient: [Fault]

    /// These faults, and no others.
    package init(toServer: [Fault] = [], toClient: [Fault] = []) {
        self.toServer = toServer
        self.toClient = toClient
    }

    /// Whether other bytes are to arrive than were sent.
    package var changesBytes: Bool { (toServer + toClient).contains { $0.kind.changesBytes } }

    /// Made-up faults of these kinds: none for `percentUntouched` of a hundred connections, else one to three in each
    /// of one or both directions, more of them early in a connection than late.
    package static func random(
        of kinds: [Fault.Kind], percentUntouched: Int = 40, using generator: inout some RandomNumberGenerator
    ) -> FaultPlan {
        var plan = FaultPlan()
        guard !kinds.isEmpty, Int.random(in: 0..<100, using: &generator) >= percentUntouched else { return plan }
        let directions = Int.random(in: 0..<4, using: &generator)
        if directions != 0 { plan.toClient = some(of: kinds, reaching: 21, &generator) }
        if directions <= 1 { plan.toServer = some(of: kinds, reaching: 15, &generator) }
        return plan
    }

    /// Places that are spread evenly over the orders of magnitude up to 2^`reaching`: heads and handshakes are hit as
    /// well as the middle of long bodies.
    private static func some(
        of kinds: [Fault.Kind], reaching: Int, _ generator: inout some RandomNumberGenerator
    ) -> [Fault] {
        (0..<Int.random(in: 1...3, using: &generator)).compactMap { _ in
            let limit = Int64(1) << Int64.random(in: 4...Int64(reaching), using: &generator)
            let position = Int64.random(in: 0..<limit, using: &generator)
            return kinds.randomElement(using: &generator)
                .map { Fault(at: position, action($0, &generator)) }
        }
    }

    private static func action(_ kind: Fault.Kind, _ generator: inout some RandomNumberGenerator) -> Fault.Action {
        switch kind {
        case .delay: .delay(.milliseconds(Int.random(in: 1...200, using: &generator)))
        case .throttle:
            .throttle(
                length: Int.random(in: 1...40_000, using: &generator),
                piece: Int.random(in: 500...4_000, using: &generator),
                pause: .milliseconds(Int.random(in: 1...8, using: &generator)))
        case .split:
            .split(
                length: Int.random(in: 1...2_000, using: &generator),
                piece: Int.random(in: 1...7, using: &generator))
        case .duplicate: .duplicate(Int.random(in: 1...64, using: &generator))
        case .corrupt: .corrupt(UInt8.random(in: 1...255, using: &generator))
        case .cut: .cut
        case .halfClose: .halfClose
        case .reset: .reset
        }
    }
}
