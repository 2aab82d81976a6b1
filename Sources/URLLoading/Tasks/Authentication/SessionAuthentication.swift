// What a session knows of proving its credentials, beyond its tasks: the spaces where it has done so, which later
// requests need not be asked in (B2.77, B2.87), and what proofs are made of.
//
// Must not know: tasks, delegates, storages.

import Foundation
import Synchronization
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem

/// The remembered proofs of one session, behind a lock that is taken only where there are any.
final class SessionAuthentication: Sendable {
    let hashes = HashFunctions.system
    /// Whether all that is accepted is its task's own.
    let keepsProofsApart: Bool
    private let tickets: TicketPlaces
    private let given: CredentialsGivenAhead
    private let spaces: Mutex<RememberedSpaces>
    private let bound = Mutex(BoundServers())
    private let hasMemory: Atomic<Bool>

    init(tickets: TicketPlaces, given: CredentialsGivenAhead, keepsProofsApart: Bool) {
        self.keepsProofsApart = keepsProofsApart
        self.tickets = tickets
        self.given = given
        spaces = Mutex(given.spaces)
        hasMemory = Atomic(!given.entries.isEmpty)
    }

    /// The rounds of one task with one side, before the first.
    func rounds(with side: AuthenticationSide) -> AuthenticationRounds {
        AuthenticationRounds(side: side, usesTicketUnasked: tickets.include(side))
    }

    /// Whether there may be anything to send unasked: all that a request costs in a session that proves nothing.
    var remembersAny: Bool { hasMemory.load(ordering: .acquiring) }

    /// What a request is to be sent with unasked; a nonce counts as used with that.
    func ahead(to side: AuthenticationSide, for request: AuthenticatedRequest) -> Authorization? {
        guard remembersAny else { return nil }
        return remembered { $0.authorization(for: side, request: request) }
    }

    /// What is found among all that the session remembers.
    func remembered(_ find: (inout RememberedSpaces) -> Authorization?) -> Authorization? {
        spaces.withLock { find(&$0) }
    }

    /// Whether connections to a server may belong to a user, who was proven there.
    func bindsConnections(to server: AuthenticationSide) -> Bool {
        bound.withLock { $0.mayInclude(server) }
    }

    /// A request was accepted with this. What is its task's own goes out with no other task's requests.
    func remember(_ authorization: Authorization, for request: AuthenticatedRequest, isTasksOwn: Bool) {
        if !isTasksOwn { spaces.withLock { $0.remember(authorization, for: request) } }
        bound.withLock { $0.note(authorization) }
        hasMemory.store(true, ordering: .releasing)
    }

    /// What was sent unasked was refused (B2.78).
    func forget(_ authorization: Authorization) {
        spaces.withLock { $0.forget(authorization) }
    }

    /// Everything is to be asked for again (B1.26), but for what the configuration says.
    func forgetAll() {
        spaces.withLock { $0 = given.spaces }
    }

    // MARK: Proofs

    /// What a proof needs of the world, each time anew.
    func freshness() -> AuthenticationFreshness {
        .drawn(secondsSince1970: Machine.wallMicroseconds / 1_000_000)
    }

    /// The value of the field for a proof; nil where none can be made.
    func field(
        _ authorization: Authorization, for request: AuthenticatedRequest, bodyHash: [UInt8]? = nil
    ) -> String? {
        authorization.field(for: request, bodyHash: bodyHash, hashes: hashes)
    }

    /// What a CONNECT is sent with unasked. Where the proxy's answer announces another nonce, the next one has that
    /// (B2.89).
    func tunnelProof(for proxy: ProxyServer, target: String) -> TunnelProof? {
        let request = AuthenticatedRequest(method: "CONNECT", target: target)
        let side = AuthenticationSide(proxy)
        guard let ahead = ahead(to: side, for: request), let value = field(ahead, for: request) else { return nil }
        return TunnelProof(authorization: ahead, value: value) { [weak self] head, _ in
            guard let self, let head else { return }
            var machine = AuthenticationMachine(side: side)
            machine.sentAhead(ahead)
            guard let acceptance = machine.accepted(head, request: request, hashes: hashes),
                acceptance.isProven != false
            else { return }
            remember(acceptance.authorization, for: request, isTasksOwn: false)
        }
    }

    /// The hash of a request's body (B2.82); nil where it cannot be read, or only once. May wait for the disk.
    func hash(_ algorithm: HashAlgorithm, of body: RequestBody) -> [UInt8]? {
        guard let hash = BodyHash(algorithm) else { return nil }
        switch body {
        case .none: break
        case .bytes(let bytes): bytes.withUnsafeBytes { hash.update($0) }
        case .file(let file): guard file.read(0..<file.byteCount, into: hash) else { return nil }
        case .section(let file, let start, let count):
            guard file.read(start..<start + count, into: hash) else { return nil }
        case .stream: return nil
        }
        return hash.finished()
    }
}

extension CredentialsGivenAhead {
    /// What a session knows at first.
    fileprivate var spaces: RememberedSpaces {
        var spaces = RememberedSpaces()
        for entry in entries { spaces.give(entry.credential, to: entry.side, from: entry.target) }
        return spaces
    }
}

extension OpenFile {
    /// Whether all of a part of the file went into a hash.
    fileprivate func read(_ part: Range<Int64>, into hash: BodyHash) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: 64 * 1024, alignment: 16) { buffer in
            var offset = part.lowerBound
            while offset < part.upperBound {
                guard case .success(let count) = read(at: offset, into: buffer) else { return false }
                let wanted = min(Int64(count), part.upperBound - offset)
                hash.update(UnsafeRawBufferPointer(rebasing: buffer[..<Int(wanted)]))
                offset += wanted
            }
            return true
        }
    }
}
