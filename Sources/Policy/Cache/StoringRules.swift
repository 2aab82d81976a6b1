// What a private cache may keep, and in which form: RFC 9111 §3, behaviour B7.8, B7.43 to B7.51, B7.54. It must not
// know where things are kept, nor whether a delegate wants something else.

import URLLoadingWire

/// Decides what is stored.
package enum StoringRules {
    /// What becomes of what is stored under the URL of an answer.
    package enum Verdict: Sendable, Equatable {
        /// The answer takes its place.
        case store
        /// It stays as it is.
        case leave
        /// It goes: there is something newer that must not be kept.
        case forget
    }

    /// The verdict about an answer; one that is not complete changes nothing (B7.50).
    ///
    /// `time` is when it came.
    package static func verdict(
        method: String, request: Fields, status: Int, fields: Fields, time: WallTime, isComplete: Bool
    ) -> Verdict {
        // B7.43, B7.54: only GET is stored. B7.46: a part is not. A 304 without an entry has nothing to say.
        guard method == "GET", isComplete, status >= 200, status != 206, status != 304 else { return .leave }
        guard !neverStored.contains(status) else { return .leave }
        let control = CacheControl(fields)
        let isSuccess = (200...299).contains(status)
        if control.noStore || CacheControl(request).noStore { return isSuccess ? .forget : .leave }
        // B7.45: redirects that are permanent like successes, everything else where the server gives it time.
        if isSuccess || status == 301 || status == 308 { return .store }
        let lifetime = FreshnessRules.lifetime(status: status, fields: fields, control: control, responseTime: time)
        if lifetime.isExplicit, lifetime.seconds > 0 { return .store }
        // What was there is not any more (RFC 9110 §15.5.5, §15.5.11).
        return status == 404 || status == 410 ? .forget : .leave
    }

    /// What becomes of a stored answer to which the server has given a new head (B7.74). It does not stay with more
    /// fields than an answer may have: each validation could add as many.
    static func renewal(by fresh: StoredAnswer, request: Fields) -> CacheChange {
        if fresh.control.noStore || fresh.fields.count > WireLimits.standard.fieldCount { return .forget }
        return CacheControl(request).noStore ? .none : .freshen(fresh)
    }

    /// Whether an answer whose delegate is asked about storing it has a status that Apple's loader proposes (B7.44).
    package static func isProposed(status: Int) -> Bool { (200...299).contains(status) }

    /// The length of the longest body that is kept although the program has not asked for that: five hundredths of the
    /// disk's capacity, or of the memory's where that is all there is (B7.8); nil where there is none.
    package static func longestBody(memoryCapacity: Int, diskCapacity: Int) -> Int64? {
        let capacity = diskCapacity > 0 ? diskCapacity : memoryCapacity
        return capacity > 0 ? Int64(capacity / 20) : nil
    }

    /// The fields of an answer as they are stored (B7.51).
    package static func storedFields(_ fields: Fields) -> Fields {
        let dropped = connectionFields(of: fields)
        var stored = Fields()
        stored.reserve(fields: fields.count, bytes: fields.byteCount)
        for index in 0..<fields.count where !fields.withNameBytes(at: index, { ASCII.contains(dropped, $0) }) {
            stored.append(fieldAt: index, of: fields)
        }
        return stored
    }

    /// The names of fields that belong to the connection an answer came over, not to the answer.
    static func connectionFields(of fields: Fields) -> [String] {
        var names = hopByHopFields
        fields.forEachValue(.connection) { value in
            var members = DirectiveScanner(value)
            while names.count < maximumNames, let member = members.next() {
                let name = String(decoding: member.name, as: UTF8.self)
                // A server that names these would take away what says how long they may be kept.
                if !ASCII.contains(indispensableFields, name) { names.append(name) }
            }
        }
        return names
    }

    /// RFC 9110 §7.6.1, and what a proxy and its client tell each other (RFC 9111 §3.1).
    private static let hopByHopFields = [
        "Connection", "Keep-Alive", "Proxy-Connection", "TE", "Transfer-Encoding", "Upgrade", "Proxy-Authenticate",
        "Proxy-Authentication-Info", "Proxy-Authorization",
    ]

    private static let indispensableFields = [
        "Age", "Cache-Control", "Content-Encoding", "Content-Length", "Content-Type", "Date", "ETag", "Expires",
        "Last-Modified", "Vary",
    ]

    /// About the request or the network at that moment: a cache must not store them (RFC 6585 §3 to §6).
    private static let neverStored: Set<Int> = [428, 429, 431, 511]

    private static let maximumNames = 64
}
