// The spaces in which a session has proven its credentials, or was given them beforehand, so that requests there carry
// the proof without being asked. Behaviour B2.77, B2.78, B2.87, B2.89, B2.91, B2.107. NTLM and Negotiate are not here:
// what they prove belongs to a connection. It must not know tasks, storages or locks.

import URLLoadingWire

/// What a session sends ahead of challenges.
package struct RememberedSpaces: Sendable {
    /// Servers and proxies; beyond that the one used longest ago is forgotten.
    package static let maximumSides = 256
    /// Spaces of one of them; likewise.
    package static let maximumSpaces = 16

    fileprivate struct Memory: Sendable {
        var authorization: Authorization
        var paths: SpacePaths
        /// The program has said so, which is not forgotten for want of room.
        var isGiven = false
    }

    fileprivate struct Memories: Sendable {
        /// The one remembered last stands last.
        var spaces: [Memory] = []
        var lastUse = 0

        var hasGiven: Bool { spaces.contains { $0.isGiven } }
    }

    private var sides: [AuthenticationSide: Memories] = [:]
    private var clock = 0

    /// Knows nothing.
    package init() {}

    /// What a request is to be sent with; nil where nothing is known. A nonce counts as used with that (B2.87). Where a
    /// user is named, nothing of others is known.
    package mutating func authorization(
        for side: AuthenticationSide, request: AuthenticatedRequest, as user: NamedUser? = nil
    ) -> Authorization? {
        guard let place = sides.index(forKey: side),
            let index = sides.values[place].index(for: request, as: user)
        else { return nil }
        var authorization = sides.values[place].spaces[index].authorization
        if case .digest(let session) = authorization.proof {
            guard let used = session.usedAgain else { return nil }
            authorization = authorization.with(.digest(used))
        }
        authorization = authorization.with(authorization.proof, isAhead: true)
        // A body that cannot be hashed first is sent when it is asked for, or not at all.
        if request.body == .unrepeatable, authorization.bodyHash(for: request) != nil { return nil }
        clock += 1
        // Changed in its place: a copy taken out would copy all spaces for each request.
        sides.values[place].spaces[index].authorization = authorization
        sides.values[place].lastUse = clock
        return authorization
    }

    /// What a request would be sent with; nothing counts as used with that.
    package func known(
        for side: AuthenticationSide, request: AuthenticatedRequest, as user: NamedUser? = nil
    ) -> Authorization? {
        guard let memories = sides[side], let index = memories.index(for: request, as: user) else { return nil }
        return memories.spaces[index].authorization
    }

    /// A request was accepted with this proof, which `AuthenticationMachine.accepted` gave.
    package mutating func remember(_ authorization: Authorization, for request: AuthenticatedRequest) {
        guard !authorization.bindsConnection else { return }
        let side = authorization.space.side
        var memories = sides[side] ?? Memories()
        let index = memories.spaces.firstIndex { $0.authorization.space == authorization.space }
        guard let memory = Memory.joined(index.map { memories.spaces[$0] }, authorization, request) else { return }
        if let index { memories.spaces.remove(at: index) }
        memories.spaces.append(memory)
        if memories.spaces.count > Self.maximumSpaces, let oldest = memories.spaces.firstIndex(where: { !$0.isGiven }) {
            memories.spaces.remove(at: oldest)
        }
        clock += 1
        memories.lastUse = clock
        sides[side] = memories
        guard sides.count > Self.maximumSides else { return }
        let passing = sides.filter { !$0.value.hasGiven }
        if let oldest = passing.min(by: { $0.value.lastUse < $1.value.lastUse })?.key { sides[oldest] = nil }
    }

    /// The credential for a server, by Basic, at and below the directory of a target, is known beforehand. Its realm is
    /// not, and so it has a space beside those that the server will name.
    package mutating func give(_ credential: PasswordCredential, to side: AuthenticationSide, from target: String) {
        let space = AuthenticationSpace(side: side, realm: nil, method: .basic)
        let authorization = Authorization(space: space, credential: credential, isAhead: true, proof: .basic)
        sides[side, default: Memories()].spaces.append(
            Memory(authorization: authorization, paths: .directory(of: target), isGiven: true))
    }

    /// What was sent ahead was refused (B2.78). Another credential, remembered meanwhile, stays.
    package mutating func forget(_ authorization: Authorization) {
        let side = authorization.space.side
        sides[side]?.spaces.removeAll {
            $0.authorization.space == authorization.space && $0.authorization.credential == authorization.credential
        }
        if sides[side]?.spaces.isEmpty == true { sides[side] = nil }
    }
}

extension RememberedSpaces.Memories {
    /// The space whose path reaches deepest, the latest of several; of a user who is named only.
    fileprivate func index(for request: AuthenticatedRequest, as user: NamedUser?) -> Int? {
        var best: (index: Int, depth: Int)?
        for (index, memory) in spaces.enumerated() {
            if let user, !user.owns(memory.authorization.credential) { continue }
            guard let depth = memory.paths.depth(of: request.target), depth >= best?.depth ?? 0 else { continue }
            best = (index, depth)
        }
        return best?.index
    }
}

extension RememberedSpaces.Memory {
    /// What is known after a success; nil when that changes nothing.
    fileprivate static func joined(
        _ known: RememberedSpaces.Memory?, _ authorization: Authorization, _ request: AuthenticatedRequest
    ) -> RememberedSpaces.Memory? {
        let paths = paths(authorization, request)
        guard let known, known.authorization.credential == authorization.credential else {
            // What was sent ahead and forgotten, or replaced, while it was under way comes too late.
            if authorization.isAhead { return nil }
            return RememberedSpaces.Memory(authorization: authorization, paths: paths)
        }
        var memory = known
        // Digest's paths are all that the server names, and what the program has said is not forgotten.
        memory.paths.formUnion(paths, oldGiveWay: authorization.space.method == .basic && !known.isGiven)
        guard case .digest(let old) = known.authorization.proof, case .digest(let new) = authorization.proof else {
            return memory
        }
        // What was sent ahead under a nonce that others have replaced since does not bring it back; the next nonce,
        // which no request has used, is news in any case.
        if authorization.isAhead, !new.nonce.hasSameBytes(as: old.nonce), new.count > 0 { return memory }
        if !authorization.isAhead { memory.paths = paths }
        memory.authorization = authorization.with(.digest(new.counted(like: old)))
        return memory
    }

    private static func paths(_ authorization: Authorization, _ request: AuthenticatedRequest) -> SpacePaths {
        guard case .server(let origin, _) = authorization.space.side else { return .everything }
        guard case .digest(let session) = authorization.proof else { return .directory(of: request.target) }
        return .domain(session.challenge.domain, of: origin)
    }
}
