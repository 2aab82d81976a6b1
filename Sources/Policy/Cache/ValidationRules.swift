// What an answer to a question about a stored one changes in it: RFC 9111 §3.2, §4.3.4, §4.3.5, behaviour B7.73 to
// B7.75, B7.80. It must not know how the question was sent or which task hears the answer.

import URLLoadingWire

/// Decides what validation makes of a stored answer.
package enum ValidationRules {
    /// A 304 or HEAD answer, and when its question was asked and it came.
    package struct News: Sendable {
        /// Its fields.
        package let fields: Fields
        /// When the request was sent.
        package let requestTime: WallTime
        /// When the answer came.
        package let responseTime: WallTime
        /// How its server was trusted.
        package let trust: AnswerTrust

        /// Makes news.
        package init(fields: Fields, requestTime: WallTime, responseTime: WallTime, trust: AnswerTrust = .plain) {
            self.fields = fields
            self.requestTime = requestTime
            self.responseTime = responseTime
            self.trust = trust
        }
    }

    /// The stored answer after a 304; nil when the 304 speaks of something else than what is stored, or comes from a
    /// server that was trusted in another way (B7.102).
    package static func freshened(_ stored: StoredAnswer, by news: News) -> StoredAnswer? {
        let new = Validators(news.fields, time: news.responseTime)
        let old = stored.validators
        // B7.75: the tag first, then the date; where the 304 has neither it can only mean the one that was asked about.
        if let tag = new.tag, let known = old.tag {
            // Quirk: nginx weakens the tag of what it compresses, but not the one in a 304. The question was ours, and
            // If-None-Match compares weakly (RFC 9110 §13.1.2).
            guard tag.isWeaklyEqual(to: known) else { return nil }
        } else if let date = new.lastModified, let known = old.lastModified {
            guard isSameDate(date, known, news.responseTime) else { return nil }
        } else if new.tag != nil, old.lastModified == nil {
            return nil
        }
        return merged(stored, news)
    }

    /// The stored answer after a HEAD answer of status 200; nil when that shows that something else is there now.
    package static func freshened(_ stored: StoredAnswer, byHead news: News) -> StoredAnswer? {
        let new = Validators(news.fields, time: news.responseTime)
        let old = stored.validators
        guard new.tag == old.tag, new.lastModified == old.lastModified else { return nil }
        let length = news.fields.first(.contentLength)
        guard length == nil || length == stored.fields.first(.contentLength) else { return nil }
        return merged(stored, news)
    }

    /// B7.74: what came takes the place of what was stored, but for what describes the stored body.
    private static func merged(_ stored: StoredAnswer, _ news: News) -> StoredAnswer? {
        // B7.102: what is put together must not reach further than each of its parts.
        guard let trust = stored.trust.joined(with: news.trust) else { return nil }
        let replacing = ReplacingFields(news.fields, but: StoringRules.connectionFields(of: news.fields) + bodyFields)
        var fields = Fields()
        fields.reserve(fields: stored.fields.count + news.fields.count, bytes: 1024)
        for index in 0..<stored.fields.count {
            if replacing.replace(fieldAt: index, of: stored.fields) || isOutdated(stored.fields, index) { continue }
            fields.append(fieldAt: index, of: stored.fields)
        }
        for index in replacing.indices { fields.append(fieldAt: index, of: news.fields) }
        // RFC 9110 §6.6.1: without a Date the answer was made when it came.
        if !fields.contains(.date) { fields.append(.date, HTTPDate.text(news.responseTime)) }
        var answer = stored
        answer.fields = fields
        answer.requestTime = news.requestTime
        answer.responseTime = news.responseTime
        answer.trust = trust
        return answer
    }

    /// What tells of the time before the validation: the old Date and Age, and warnings of that time (RFC 7234 §5.5).
    private static func isOutdated(_ fields: Fields, _ index: Int) -> Bool {
        fields.withNameBytes(at: index) { name in
            if ASCII.isEqual(name, "Date") || ASCII.isEqual(name, "Age") { return true }
            guard ASCII.isEqual(name, "Warning") else { return false }
            return fields.withValueBytes(at: index) { $0.first != UInt8(ascii: "2") }
        }
    }

    private static func isSameDate(_ left: String, _ right: String, _ now: WallTime) -> Bool {
        left == right || HTTPDate.parse(left, now: now) == HTTPDate.parse(right, now: now)
    }

    private static let bodyFields = ["Content-Length", "Content-Encoding", "Content-Type", "Content-Range"]
}

/// Which fields of news take the place of stored ones.
private struct ReplacingFields {
    private let news: Fields
    private let kept: [String]
    /// The names of the news; empty where there are so few that a search costs less.
    private let names: Set<FieldName>

    /// All but those of some names.
    init(_ news: Fields, but kept: [String]) {
        self.news = news
        self.kept = kept
        names = news.count > Self.searchedUpTo ? Set((0..<news.count).map { FieldName(news.name(at: $0)) }) : []
    }

    /// Where they stand among the news.
    var indices: [Int] { (0..<news.count).filter { !isKept(news, $0) } }

    /// Whether one takes the place of a stored field.
    func replace(fieldAt index: Int, of stored: Fields) -> Bool {
        let isThere =
            names.isEmpty
            ? news.contains(nameOfFieldAt: index, of: stored) : names.contains(FieldName(stored.name(at: index)))
        return isThere && !isKept(stored, index)
    }

    private func isKept(_ fields: Fields, _ index: Int) -> Bool {
        fields.withNameBytes(at: index) { ASCII.contains(kept, $0) }
    }

    /// Picked by feel: most answers have fewer.
    private static let searchedUpTo = 16
}
