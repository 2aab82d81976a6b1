// The cookies of one storage: found by host, replaced by identity, and never more than so many
// (RFC 6265bis §5.7, §5.8).
//
// A value: the lock around it, the clock and the disk are its owner's. Must not know sessions and URLs.

/// How many cookies a jar holds.
package struct CookieLimits: Sendable {
    /// Most for one domain.
    package var inDomain: Int
    /// Most altogether.
    package var inAll: Int
    /// How many cookies make a domain a crowded one, whose cookies go first when there are too many altogether.
    package var crowd: Int

    /// Limits of one's own.
    package init(inDomain: Int, inAll: Int, crowd: Int) {
        self.inDomain = max(inDomain, 1)
        self.inAll = max(inAll, 1)
        self.crowd = crowd
    }

    /// RFC 6265bis §6.1 asks for at least 50 and 3000 (B8.72).
    package static let standard = CookieLimits(inDomain: 180, inAll: 3300, crowd: 50)
}

/// A set of cookies.
package struct CookieJar: Sendable {
    /// By domain; in each in the order in which they were first kept.
    private var domains: [String: [Entry]] = [:]
    /// How many there are.
    package private(set) var count = 0
    /// What has come, changed or gone since `takeTouched`.
    package private(set) var touched: Set<Cookie.Identity> = []
    private let recordsTouched: Bool
    private let limits: CookieLimits
    private var nextNumber: UInt64 = 0
    private var secure = SecureCookies()

    private struct Entry: Sendable {
        var cookie: Cookie
        /// The order in which cookies were first kept.
        let number: UInt64
        /// The order in which they were last used.
        var use: UInt64
    }

    /// An empty jar; one that `recordsTouched` must be asked for that from time to time.
    package init(limits: CookieLimits = .standard, recordsTouched: Bool = false) {
        self.limits = limits
        self.recordsTouched = recordsTouched
    }

    /// Whether there is none.
    package var isEmpty: Bool { count == 0 }

    /// What has not ended, in the order in which it was first kept.
    package func all(_ now: Double) -> [Cookie] {
        domains.values.joined().filter { !$0.cookie.isExpired(now) }.sorted { $0.number < $1.number }.map(\.cookie)
    }

    /// The cookie of that identity.
    package func cookie(_ identity: Cookie.Identity) -> Cookie? {
        domains[identity.domain]?.first { $0.cookie.has(identity) }?.cookie
    }

    // MARK: Answers and requests

    /// Takes a cookie from an answer, or says why not.
    ///
    /// `isChanged` is set where others would notice.
    package mutating func receive(
        _ cookie: Cookie, from context: CookieContext, now: Double, suffixes: () -> PublicSuffixes,
        isChanged: inout Bool
    ) -> CookieRefusal? {
        var cookie = cookie
        if let refusal = CookieRules.refusal(&cookie, from: context, suffixes: suffixes) { return refusal }
        if !context.place.isSecure, !cookie.isSecure, secure.areHidden(by: cookie) { return .hidesSecure }
        if cookie.isFromScript, self.cookie(cookie.identity)?.isHTTPOnly == true { return .hiddenFromScripts }
        if store(cookie, now: now) { isChanged = true }
        return nil
    }

    /// The cookies that go with a request, in the order in which they are sent (B8.55).
    package mutating func cookies(
        for context: CookieContext, now: Double, suffixes: () -> PublicSuffixes
    ) -> [Cookie] {
        let (places, entries) = use(for: context, now: now, suffixes: suffixes)
        return places.map { entries[$0.domain][$0.index].cookie }
    }

    /// The value of a request's Cookie field (B8.12, B8.56); nil where no cookie goes with it.
    package mutating func field(
        for context: CookieContext, now: Double, suffixes: () -> PublicSuffixes
    ) -> String? {
        let (places, entries) = use(for: context, now: now, suffixes: suffixes)
        guard !places.isEmpty else { return nil }
        var length = 0
        for place in places {
            // With "=" and "; ".
            length += entries[place.domain][place.index].cookie.name.utf8.count + 3
            length += entries[place.domain][place.index].cookie.value.utf8.count
        }
        var text = ""
        text.reserveCapacity(length)
        for place in places {
            if !text.isEmpty { text += "; " }
            text += entries[place.domain][place.index].cookie.name
            text += "="
            text += entries[place.domain][place.index].cookie.value
        }
        return text
    }

    /// Where a cookie that is sent lies, with what it is sorted by: refers to nothing, so that it is cheap to move.
    private struct Place {
        let pathLength: Int
        let created: Double
        let number: UInt64
        /// Which of the domains that were found.
        let domain: Int
        let index: Int

        func isBefore(_ other: Place) -> Bool {
            if pathLength != other.pathLength { return pathLength > other.pathLength }
            if created != other.created { return created < other.created }
            return number < other.number
        }
    }

    /// The places of the cookies that go with a request, in order, and the entries of the domains that they lie in.
    private mutating func use(
        for context: CookieContext, now: Double, suffixes: () -> PublicSuffixes
    ) -> ([Place], [[Entry]]) {
        var (found, places, isInOrder): ([[Entry]], [Place], Bool) = ([], [], true)
        for domain in Self.domains(of: context.place) {
            guard let slot = domains.index(forKey: domain) else { continue }
            // Taken out of the dictionary meanwhile: two that have the entries would make it copy all of them.
            var entries: [Entry] = []
            swap(&entries, &domains.values[slot])
            for index in entries.indices {
                guard CookieRules.isSent(entries[index].cookie, with: context, now: now, suffixes: suffixes)
                else { continue }
                entries[index].use = takeNumber()
                let place = Place(
                    pathLength: entries[index].cookie.path.utf8.count, created: entries[index].cookie.created,
                    number: entries[index].number, domain: found.count, index: index)
                if let last = places.last, !last.isBefore(place) { isInOrder = false }
                places.append(place)
            }
            found.append(entries)
            swap(&entries, &domains.values[slot])
        }
        if !isInOrder { places.sort { $0.isBefore($1) } }
        return (places, found)
    }

    /// The host, and the names it lies below.
    private static func domains(of place: CookiePlace) -> [String] {
        place.isIPLiteral ? [place.host] : CookiePlace.upwards(from: place.host)
    }

    /// What knowing Secure cookies, and the search for hidden ones, has cost so far, in things looked at.
    package var secureSteps: Int { secure.steps }

    // MARK: Changing

    /// Keeps a cookie in the place of the one with its identity; one that has ended only removes that (B8.62).
    ///
    /// Whether others would notice.
    @discardableResult
    package mutating func store(_ cookie: Cookie, now: Double) -> Bool {
        let identity = cookie.identity
        if cookie.isExpired(now) { return remove(identity) }
        var entries = domains.removeValue(forKey: cookie.domain) ?? []
        var isChanged = true
        if let index = entries.firstIndex(where: { $0.cookie.has(identity) }) {
            let old = entries[index].cookie
            isChanged = !old.isSame(as: cookie)
            // The index knows a Secure cookie by its identity.
            if old.isSecure != cookie.isSecure {
                secure.remove(old)
                secure.add(cookie)
            }
            entries[index].cookie = cookie
            // RFC 6265bis §5.7 item 23: it stays as old as it was.
            entries[index].cookie.created = old.created
            entries[index].use = takeNumber()
        } else {
            let number = takeNumber()
            entries.append(Entry(cookie: cookie, number: number, use: number))
            count += 1
            secure.add(cookie)
        }
        let pushedOut = entries.count > limits.inDomain ? Self.takeLeast(of: &entries, now: now) : nil
        domains[cookie.domain] = entries
        if isChanged { touch(identity) }
        if let pushedOut { drop(pushedOut) }
        if count > limits.inAll { makeRoom(now: now) }
        return isChanged
    }

    /// Removes a cookie; whether there was one.
    @discardableResult
    package mutating func remove(_ identity: Cookie.Identity) -> Bool {
        remove(from: identity.domain) { $0.cookie.has(identity) }
    }

    private mutating func remove(from domain: String, where isMeant: (Entry) -> Bool) -> Bool {
        // Taken out of the dictionary meanwhile: two that have the entries would make it copy all of them.
        guard var entries = domains.removeValue(forKey: domain) else { return false }
        let gone = entries.firstIndex(where: isMeant).map { entries.remove(at: $0) }
        domains[domain] = entries.isEmpty ? nil : entries
        if let gone { drop(gone) }
        return gone != nil
    }

    /// Removes those that were first kept at a moment or later (B8.64); whether there was one.
    @discardableResult
    package mutating func remove(since moment: Double) -> Bool {
        removeAll { $0.cookie.created >= moment }
    }

    private mutating func removeAll(where isGone: (Entry) -> Bool) -> Bool {
        let before = count
        for (domain, entries) in domains {
            let kept = entries.filter { !isGone($0) }
            guard kept.count < entries.count else { continue }
            for entry in entries where isGone(entry) { drop(entry) }
            domains[domain] = kept.isEmpty ? nil : kept
        }
        return count < before
    }

    private mutating func drop(_ entry: Entry) {
        count -= 1
        secure.remove(entry.cookie)
        touch(entry.cookie.identity)
    }

    private mutating func takeNumber() -> UInt64 {
        nextNumber += 1
        return nextNumber
    }

    private mutating func touch(_ identity: Cookie.Identity) {
        guard recordsTouched else { return }
        touched.insert(identity)
        // Where they are never taken, because the disk is full, what has gone for good is forgotten.
        if touched.count > limits.inAll * 8 { touched = touched.filter { $0 == identity || cookie($0) != nil } }
    }

    // MARK: Room (B8.72)

    /// One domain's share is full: what has ended goes, then the insecure ones, then any; what was not used for longest
    /// goes first.
    private static func takeLeast(of entries: inout [Entry], now: Double) -> Entry? {
        var least: (rank: Int, use: UInt64, index: Int)?
        for index in entries.indices {
            let (rank, use) = (rank(entries[index], now: now), entries[index].use)
            if let least, (least.rank, least.use) < (rank, use) { continue }
            least = (rank, use, index)
        }
        return least.map { entries.remove(at: $0.index) }
    }

    /// There are too many altogether: the same, crowded domains first. A few more go than have to, so that the next
    /// ones need no sorting.
    private mutating func makeRoom(now: Double) {
        // Without the cookies themselves, which would be copied with all that they refer to.
        var ranked: [(rank: Int, use: UInt64, domain: String, number: UInt64)] = []
        ranked.reserveCapacity(count)
        for (domain, entries) in domains {
            let isCrowded = entries.count > limits.crowd
            for entry in entries {
                let rank = Self.rank(entry, now: now)
                ranked.append((rank == 0 ? 0 : isCrowded ? rank : 3, entry.use, domain, entry.number))
            }
        }
        ranked.sort { ($0.rank, $0.use) < ($1.rank, $1.use) }
        for place in ranked.prefix(count - limits.inAll + limits.inAll / 32) {
            _ = remove(from: place.domain) { $0.number == place.number }
        }
    }

    private static func rank(_ entry: Entry, now: Double) -> Int {
        entry.cookie.isExpired(now) ? 0 : entry.cookie.isSecure ? 2 : 1
    }

    // MARK: Sharing with others

    /// What has come, changed or gone since the last call.
    package mutating func takeTouched() -> Set<Cookie.Identity> {
        defer { touched = [] }
        return touched
    }

    /// Counts changes as not taken after all.
    package mutating func untake(_ identities: Set<Cookie.Identity>) {
        touched.formUnion(identities)
    }

    /// Takes over what all programs that share the cookies agreed on. What was changed here meanwhile stays as it is
    /// here, and so do cookies that end with the program, which are not shared.
    ///
    /// Whether others would notice.
    package mutating func adopt(_ shared: [Cookie], now: Double) -> Bool {
        let mine = touched
        let known = Set(shared.map(\.identity))
        var isChanged = removeAll { entry in
            let identity = entry.cookie.identity
            return entry.cookie.expires != nil && !known.contains(identity) && !mine.contains(identity)
        }
        for cookie in shared where !mine.contains(cookie.identity) && self.cookie(cookie.identity) != cookie {
            if store(cookie, now: now) { isChanged = true }
        }
        touched = mine
        return isChanged
    }
}
