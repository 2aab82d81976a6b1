// The resolver of real loops: literals and overrides at once, recent answers from a table, everything else from the table's name
// service: getaddrinfo on a helper thread for the process's table, the program for a session's own. Equal look-ups under way are one
// look-up, across all loops.
// RFC 6761 §6.3: names under "localhost" never leave the machine.

/// Resolves names with the system's name service, or with a program's own.
package final class SystemResolver: Resolver {
    private let reactor: Reactor
    private let overrides: [String: String]
    private let cacheLifetime: Duration
    private let table: LookupTable
    /// What needed no look-up last: most sessions talk to one server at a time.
    private var latest: (host: String, port: Int, addresses: [SocketAddress])?

    /// A resolver for `reactor`'s loop.
    ///
    /// `overrides` maps names (in any case) to literals that are used instead of an answer. `cacheLifetime` is how old
    /// an answer may be whose service does not say so; zero asks each time. `names` is what answers; the system where it is nil.
    package init(
        reactor: Reactor, overrides: [String: String] = [:], cacheLifetime: Duration = .seconds(30),
        names: LookupTable? = nil
    ) {
        self.reactor = reactor
        self.overrides = Dictionary(overrides.map { ($0.key.lowercased(), $0.value) }) { first, _ in first }
        self.cacheLifetime = cacheLifetime
        self.table = names ?? processTable
    }

    /// A resolver with a table of its own and another way to look names up, for tests.
    package convenience init(
        reactor: Reactor, overrides: [String: String] = [:], cacheLifetime: Duration = .seconds(30),
        pool: BlockingPool,
        lookUp: @escaping @Sendable (String) -> Result<[SocketAddress], ResolverFailure>
    ) {
        self.init(
            reactor: reactor, overrides: overrides, cacheLifetime: cacheLifetime,
            names: LookupTable(SystemNameService(pool: pool, lookUp: lookUp)))
    }

    /// Looks up a name.
    ///
    /// Also an answer that is known at once arrives at the end of the turn.
    package func resolve(
        _ host: String, port: Int, completion: @escaping (Result<[SocketAddress], ResolverFailure>) -> Void
    ) -> any Resolution {
        let pending = PendingLookups.of(reactor)
        let id = pending.add { completion(Self.apply(port: port, host: host, to: $0)) }
        if let known = answerWithoutLookup(host, port: port) {
            reactor.later { pending.finish(id, known) }
            return PendingResolution(pending: pending, id: id)
        }
        let (name, waiter) = (nameToAsk(host), LookupWaiter(loop: reactor.loop, id: id))
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
        if let latest, latest.port == port, latest.host == host { return latest.addresses }
        if let known = answerWithoutLookup(host, port: port) {
            let addresses = try? known.get()
            // The interface behind a zone may be another one tomorrow.
            if let addresses, addresses.allSatisfy({ $0.scope == 0 }) { latest = (host, port, addresses) }
            return addresses
        }
        guard let addresses = table.answer(nameToAsk(host), lifetime: cacheLifetime, now: reactor.now) else {
            return nil
        }
        return try? Self.apply(port: port, host: host, to: .success(addresses)).get()
    }

    /// Drops a cached answer, because none of its addresses could be connected to.
    package func forget(_ host: String) {
        table.forget(nameToAsk(host))
    }

    // MARK: Without the name service

    private func answerWithoutLookup(_ host: String, port: Int) -> Result<[SocketAddress], ResolverFailure>? {
        let keys = overrides.isEmpty ? nil : Self.overrideKeys(host: host, port: port)
        if let keys, let override = overrides[keys.place] ?? overrides[keys.name] {
            return Self.addresses(override, host: host, port: port)
        }
        if let address = SocketAddress(literal: host, port: port) {
            return .success([address])
        }
        if let keys, let override = overrides[keys.anyAtPort] ?? overrides["*"] {
            return Self.addresses(override, host: host, port: port)
        }
        // A NUL would end the name early for the system: "good.example\0.evil" must not become "good.example".
        // 253 is the longest name DNS can carry (RFC 1035 §2.3.4); one more for a final dot.
        if host.isEmpty || host.utf8.count > 254 || host.utf8.contains(0) {
            return .failure(
                ResolverFailure(reason: .noSuchHost, code: 0, host: host, message: "This is not a host name"))
        }
        if !table.service.knowsLocalNames, isLocal(host.lowercased()) {
            return Self.apply(port: port, host: host, to: .success(SocketAddress.loopbacks))
        }
        return nil
    }

    /// Where an address for a host may be set: for its port alone, for all ports, or for this port of any host; `*` is for
    /// everything else.
    package static func overrideKeys(host: String, port: Int) -> (place: String, name: String, anyAtPort: String) {
        let name = host.lowercased()
        return ("\(name):\(port)", name, "*:\(port)")
    }

    /// The addresses of a list with commas.
    private static func addresses(
        _ list: String, host: String, port: Int
    ) -> Result<[SocketAddress], ResolverFailure> {
        var addresses: [SocketAddress] = []
        for text in list.split(separator: ",", omittingEmptySubsequences: false) {
            guard let address = SocketAddress(literal: String(text), port: port) else {
                return .failure(
                    ResolverFailure(
                        reason: .failed, code: 0, host: host,
                        message: "The address set for this name is not an IP address: \(text)"))
            }
            addresses.append(address)
        }
        return .success(addresses)
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
private let processTable = LookupTable(SystemNameService(pool: .names, lookUp: NameLookup.addresses(of:)))
