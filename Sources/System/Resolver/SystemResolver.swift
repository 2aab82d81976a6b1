// The resolver of real loops: literals and addresses that are set at once, recent answers from a table, everything else
// from the table's name service: getaddrinfo on a helper thread for the process's table, the program for a session's
// own. Equal look-ups under way are one look-up, across all loops.
// RFC 6761 §6.3: names under "localhost" never leave the machine.

import Synchronization

/// Resolves names with the system's name service, or with a program's own.
package final class SystemResolver: Resolver {
    private let reactor: Reactor
    private let overrides: HostOverrides
    private let cacheLifetime: Duration
    private let table: LookupTable
    /// What was at hand last: most sessions talk to one server at a time. Measured: to find it in the table costs each
    /// connection 4,000 instructions. `@exclusivity(unchecked)`: nothing else runs while it is looked at.
    @exclusivity(unchecked) private var latest: Latest?

    private struct Latest {
        let host: String
        let port: Int
        let addresses: [SocketAddress]
        /// Where it is from the table: how long it is good, as `LoopClock` counts time, and how many answers the table
        /// had let go of by then.
        let answer: (end: Duration, timesForgotten: Int)?
    }

    /// A resolver for `reactor`'s loop.
    ///
    /// `overrides` is where hosts are in place of what a look-up says. `cacheLifetime` is how old an answer may be
    /// whose service does not say so; zero asks each time. `names` is what answers; the system where it is nil.
    package init(
        reactor: Reactor, overrides: [String: String] = [:], cacheLifetime: Duration = .seconds(30),
        names: LookupTable? = nil
    ) {
        self.reactor = reactor
        self.overrides = HostOverrides(overrides)
        self.cacheLifetime = cacheLifetime
        self.table = names ?? processTable
    }

    /// A resolver with a table of its own and another way to look names up, for tests.
    package convenience init(
        reactor: Reactor, overrides: [String: String] = [:], cacheLifetime: Duration = .seconds(30),
        pool: BlockingPool, hosts: HostsFile = HostsFile(),
        lookUp: @escaping @Sendable (String) -> Result<[SocketAddress], ResolverFailure>
    ) {
        self.init(
            reactor: reactor, overrides: overrides, cacheLifetime: cacheLifetime,
            names: LookupTable(SystemNameService(pool: pool, hosts: hosts, lookUp: lookUp)))
    }

    /// Looks up a name.
    ///
    /// Also an answer that is known at once arrives at the end of the turn.
    package func resolve(
        _ host: String, port: Int, completion: @escaping (Result<[SocketAddress], ResolverFailure>) -> Void
    ) -> any Resolution {
        let pending = PendingLookups.of(reactor)
        let place: (host: String, port: Int)
        switch whatIsKnown(of: host, port: port) {
        case .settled(let result):
            let id = pending.add(completion)
            reactor.later { pending.finish(id, result) }
            return PendingResolution(pending: pending, id: id)
        case .toAsk(let host, let port): place = (host, port)
        }
        let id = pending.add { completion(Self.apply(port: place.port, host: place.host, to: $0)) }
        let (name, waiter) = (nameToAsk(place.host), LookupWaiter(loop: reactor.loop, id: id))
        switch table.find(name, lifetime: cacheLifetime, now: reactor.now, waiter: waiter) {
        case .answer(let addresses):
            reactor.later { pending.finish(id, .success(addresses)) }
            return PendingResolution(pending: pending, id: id)
        case .awaited:
            return PendingResolution(pending: pending, id: id) { [table] in table.leave(name, waiter) }
        }
    }

    /// The address of a literal or of a name that was set, or a cached answer.
    package func addressesAtHand(_ host: String, port: Int) -> [SocketAddress]? {
        if let latest, latest.port == port, latest.host == host, isGood(latest) { return latest.addresses }
        switch whatIsKnown(of: host, port: port) {
        case .settled(let result):
            let addresses = try? result.get()
            // The interface behind a zone may be another one tomorrow.
            if let addresses, addresses.allSatisfy({ $0.scope == 0 }) {
                latest = Latest(host: host, port: port, addresses: addresses, answer: nil)
            }
            return addresses
        case .toAsk(let name, let placePort):
            // Order: counted before the table is asked, so that what is forgotten meanwhile counts.
            let timesForgotten = table.timesForgotten.load(ordering: .acquiring)
            guard let answer = table.answer(nameToAsk(name), lifetime: cacheLifetime, now: reactor.now),
                let addresses = try? Self.apply(port: placePort, host: name, to: .success(answer.addresses)).get()
            else { return nil }
            latest = Latest(
                host: host, port: port, addresses: addresses, answer: (answer.end - LoopClock.epoch, timesForgotten))
            return addresses
        }
    }

    private func isGood(_ latest: Latest) -> Bool {
        guard let answer = latest.answer else { return true }
        return table.timesForgotten.load(ordering: .acquiring) == answer.timesForgotten && reactor.elapsed < answer.end
    }

    /// Drops a cached answer, because none of its addresses could be connected to.
    package func forget(_ host: String, port: Int) {
        if case .toAsk(let name, _) = whatIsKnown(of: host, port: port) { table.forget(nameToAsk(name)) }
    }

    // MARK: Without the name service

    private enum Knowledge {
        /// There is nothing to ask.
        case settled(Result<[SocketAddress], ResolverFailure>)
        /// This name has to be looked up.
        case toAsk(String, port: Int)
    }

    private func whatIsKnown(of host: String, port: Int) -> Knowledge {
        switch overrides.place(of: host, port: port) {
        case nil: whatNameSays(host, port: port)
        case .addresses(let addresses): .settled(.success(addresses))
        case .host(let other, let port): whatNameSays(other, port: port)
        case .unusable(let text):
            .settled(
                .failure(
                    ResolverFailure(
                        reason: .notAName, code: 0, host: host,
                        message: "What is set for this name is neither an address nor a name: \(text)")))
        }
    }

    private func whatNameSays(_ host: String, port: Int) -> Knowledge {
        if let address = SocketAddress(literal: host, port: port) {
            return .settled(.success([address]))
        }
        // A NUL would end the name early for the system: "good.example\0.evil" must not become "good.example".
        // 253 is the longest name DNS can carry (RFC 1035 §2.3.4); one more for a final dot.
        if host.isEmpty || host.utf8.count > 254 || host.utf8.contains(0) {
            return .settled(
                .failure(
                    ResolverFailure(reason: .notAName, code: 0, host: host, message: "This is not a host name")))
        }
        if !table.service.knowsLocalNames, isLocal(host.lowercased()) {
            return .settled(Self.apply(port: port, host: host, to: .success(SocketAddress.loopbacks)))
        }
        return .toAsk(host, port: port)
    }

    // MARK: With it

    /// The name under which the process knows a host: all local ones are one.
    private func nameToAsk(_ host: String) -> String {
        let name = host.lowercased()
        return isLocal(name) ? "localhost" : name
    }

    /// "localhost" and every name under it, with or without the final dot.
    private func isLocal(_ host: String) -> Bool {
        let name = host.hasSuffix(".") ? host.dropLast() : host[...]
        return name == "localhost" || name.hasSuffix(".localhost")
    }

    /// The table holds addresses without ports and failures under the name that was asked.
    private static func apply(
        port: Int, host: String, to result: Result<[SocketAddress], ResolverFailure>
    ) -> Result<[SocketAddress], ResolverFailure> {
        switch result {
        case .success(let addresses):
            let complete = addresses.compactMap { $0.with(port: port) }
            guard !complete.isEmpty else {
                return .failure(
                    ResolverFailure(reason: .failed, code: 0, host: host, message: "\(port) is not a port"))
            }
            return .success(complete)
        case .failure(let failure):
            return .failure(failure.about(host))
        }
    }
}

/// The look-up of one caller.
private final class PendingResolution: Resolution {
    private let pending: PendingLookups
    private let id: Int
    private let leave: () -> Void

    init(pending: PendingLookups, id: Int, leave: @escaping () -> Void = {}) {
        self.pending = pending
        self.id = id
        self.leave = leave
    }

    func cancel() {
        pending.forget(id)
        leave()
    }
}

/// Shared by every loop of the process.
private let processTable = LookupTable(
    SystemNameService(pool: .names, hosts: HostsFile(), lookUp: NameLookup.addresses(of:)))
