// How old a stored answer is and how long it may be used without asking: RFC 9111 §4.2, behaviour B7.55 to B7.61,
// B7.69, B7.70. It must not know requests, policies or a clock. What cannot be read counts as stale.

import URLLoadingWire

/// Decides about freshness and age.
package enum FreshnessRules {
    /// How long an answer is fresh.
    package struct Lifetime: Sendable, Equatable {
        /// Seconds, counted from the moment the answer was made.
        package let seconds: Int64
        /// Whether the server said so; otherwise it is a guess.
        package let isExplicit: Bool

        /// Makes a lifetime.
        package init(seconds: Int64, isExplicit: Bool) {
            self.seconds = seconds
            self.isExplicit = isExplicit
        }
    }

    /// The lifetime of an answer: max-age, else Expires − Date, else a guess (B7.55).
    package static func lifetime(
        status: Int, fields: Fields, control: CacheControl, responseTime: WallTime
    ) -> Lifetime {
        switch control.maxAge {
        case .count(let seconds): return Lifetime(seconds: seconds, isExplicit: true)
        case .invalid: return Lifetime(seconds: 0, isExplicit: true)
        case .absent: break
        }
        let made = date(of: fields, responseTime: responseTime)
        switch onlyDate(.expires, in: fields, now: responseTime) {
        case .value(let expires): return Lifetime(seconds: max(0, expires - made), isExplicit: true)
        case .invalid: return Lifetime(seconds: 0, isExplicit: true)
        case .absent: break
        }
        guard isHeuristicallyCacheable(status),
            case .value(let modified) = onlyDate(.lastModified, in: fields, now: responseTime)
        else { return Lifetime(seconds: 0, isExplicit: false) }
        let guess = max(0, min(made, responseTime) - modified) / 10
        return Lifetime(seconds: min(guess, maximumGuess), isExplicit: false)
    }

    /// How long ago the answer was made (B7.59).
    package static func age(
        fields: Fields, requestTime: WallTime, responseTime: WallTime, now: WallTime
    ) -> Int64 {
        // B7.70: a Date in the future makes the answer no younger than it is.
        let apparent = max(0, responseTime - date(of: fields, responseTime: responseTime))
        let corrected = ageField(of: fields) + max(0, responseTime - requestTime)
        // B7.70: after the clock was set back the time that has passed is not known. As much as it was set back is
        // taken for it, so that nothing is fresh for ever.
        return max(apparent, corrected) + abs(now - responseTime)
    }

    /// Whether a lifetime may be guessed for a status: those cacheable by default (RFC 9110 §15.1).
    package static func isHeuristicallyCacheable(_ status: Int) -> Bool {
        switch status {
        case 200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501: true
        default: false
        }
    }

    /// When the answer was made: its Date, else the moment it came (RFC 9110 §6.6.1).
    private static func date(of fields: Fields, responseTime: WallTime) -> WallTime {
        if case .value(let date) = onlyDate(.date, in: fields, now: responseTime) { return date }
        return responseTime
    }

    /// The first number among the values of Age, else 0 (B7.60).
    private static func ageField(of fields: Fields) -> Int64 {
        var age: Int64?
        fields.forEachValue(.age) { value in
            var members = DirectiveScanner(value)
            while age == nil, let member = members.next() {
                if member.argument == nil { age = CacheControl.seconds(member.name) }
            }
        }
        return age ?? 0
    }

    // MARK: Dates

    private enum DateField {
        case absent
        case invalid
        case value(WallTime)
    }

    /// A date; one that comes twice has to be the same (B7.56).
    private static func onlyDate(_ name: FieldName, in fields: Fields, now: WallTime) -> DateField {
        var result = DateField.absent
        fields.forEachValue(name) { value in
            guard let date = HTTPDate.parse(value, now: now) else {
                result = .invalid
                return
            }
            switch result {
            case .absent: result = .value(date)
            case .value(let other) where other == date: break
            case .value, .invalid: result = .invalid
            }
        }
        return result
    }

    /// A day: longer is no guess but a hope (B7.61).
    private static let maximumGuess: Int64 = 86_400
}

extension StoredAnswer {
    /// What the stored Cache-Control fields say.
    package var control: CacheControl { CacheControl(fields) }

    /// How old the answer is.
    package func age(at now: WallTime) -> Int64 {
        FreshnessRules.age(fields: fields, requestTime: requestTime, responseTime: responseTime, now: now)
    }

    /// How long it is fresh.
    package func lifetime(_ control: CacheControl) -> FreshnessRules.Lifetime {
        FreshnessRules.lifetime(status: status, fields: fields, control: control, responseTime: responseTime)
    }
}
