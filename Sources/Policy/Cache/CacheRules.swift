// How a cache takes part in a load, before it and after its answer, as one value each: RFC 9111 §4, behaviour B7.24 to
// B7.42, B7.62 to B7.68, B7.71 to B7.80. It must not know stores, sessions or clocks; it is handed what is stored, the
// fields as they are sent, and the time.

import URLLoadingWire

/// How a request wants a cache to take part; the six policies of the API as four ways.
package enum CachePolicy: Sendable, Equatable {
    /// As HTTP's rules say (B7.26).
    case protocolRules
    /// Nothing stored is used (B7.27, B7.28).
    case reload
    /// What is stored is used whatever its age (B7.30).
    case storedElseLoad
    /// What is stored is used whatever its age, and the network never (B7.31).
    case storedOnly
    /// What is stored is used once the server has confirmed it (B7.29).
    case revalidate
}

/// What a load begins with.
package enum CacheDecision: Sendable, Equatable {
    /// The request is sent as it is.
    case load
    /// What is stored is the answer.
    case use
    /// The request is sent with these fields added, which ask whether what is stored is still right.
    case validate(Fields)
    /// The load fails: nothing stored will do, and the network must not be used (B7.32, B7.66).
    case fail
}

extension CacheDecision {
    /// The decision with a question to the server that no cache on the way may answer (B7.29).
    fileprivate var askingOrigin: CacheDecision {
        guard case .validate(var fields) = self else { return self }
        fields.append(.cacheControl, "max-age=0")
        return .validate(fields)
    }
}

/// What an answer comes to.
package enum CacheOutcome: Sendable, Equatable {
    /// The answer is delivered, and the store changed.
    case deliver(CacheChange)
    /// The stored body is delivered under this head (B7.73), and the store changed.
    case deliverStored(StoredAnswer, CacheChange)
    /// The answer was about something else than what is stored: the request is sent again, without conditions.
    case sendAgain
}

/// What an answer changes in the store.
package enum CacheChange: Sendable, Equatable {
    /// Nothing.
    case none
    /// The answer is stored once its body is complete.
    case store(StoredAnswer)
    /// The stored answer gets this head; its body stays.
    case freshen(StoredAnswer)
    /// The stored answer is forgotten.
    case forget
}

/// Decides how a cache takes part.
package enum CacheRules {
    /// What a load begins with.
    ///
    /// `request` holds the fields as they are sent, those of the loader included (B7.82).
    package static func decision(
        policy: CachePolicy, method: String, request: Fields, stored: StoredAnswer?, now: WallTime
    ) -> CacheDecision {
        let asked = CacheControl(request)
        let missing: CacheDecision = policy == .storedOnly || asked.onlyIfCached ? .fail : .load
        // B7.17: HEAD is answered by what is stored for GET. B7.72: a request with conditions of the program's own gets
        // the server's answer.
        guard policy != .reload, method == "GET" || method == "HEAD", !Validators.asksItself(request), let stored
        else { return missing }
        let isUnrepeatable = stored.selection.isUnrepeatable
        guard isUnrepeatable || stored.selection.matches(request) else { return missing }
        // Made where it is asked only: most of what is stored is used without a question.
        func question() -> CacheDecision {
            if missing == .fail { return missing }
            let validation = Self.validation(of: stored)
            // What the program says itself about the age it takes stays as it is.
            let asksOrigin = policy == .revalidate && !asked.noCache && asked.maxAge == .absent
            return asksOrigin ? validation.askingOrigin : validation
        }
        // B7.49: never without asking.
        if isUnrepeatable { return question() }
        switch policy {
        case .reload: return missing
        case .storedElseLoad, .storedOnly: return .use
        case .revalidate:
            let control = stored.control
            return control.isImmutable && isFresh(stored, control, now) ? .use : question()
        case .protocolRules:
            return isUsable(stored, asked, request, now) ? .use : question()
        }
    }

    /// What an answer comes to.
    ///
    /// - method, request: as in `decision`, without the conditions that were added.
    /// - isValidation: whether conditions were added.
    /// - isComplete: whether the body will be, or has been, received whole (B7.50).
    /// - isUsers: whether the answer may be a user's of whom its request says nothing (B7.104).
    /// - salt: a random number, asked for where something is stored that a request selects.
    package static func outcome(
        method: String, request: Fields, status: Int, news: ValidationRules.News, stored: StoredAnswer?,
        isValidation: Bool, isComplete: Bool = true, isUsers: Bool = false,
        salt: @autoclosure () -> SipHash.Words
    ) -> CacheOutcome {
        if isValidation, let stored {
            if status == 304 {
                guard var fresh = ValidationRules.freshened(stored, by: news) else { return .sendAgain }
                fresh.select(by: news, request: request, salt: salt())
                return .deliverStored(fresh, StoringRules.renewal(by: fresh, request: request))
            }
            // B7.76: neither an answer nor a reason to forget.
            if status >= 500 { return .deliver(.none) }
        }
        if method == "HEAD" { return .deliver(changeByHead(request, status, news, stored, salt())) }
        let verdict = StoringRules.verdict(
            method: method, request: request, status: status, fields: news.fields, time: news.responseTime,
            isComplete: isComplete)
        switch verdict {
        case .leave: return .deliver(.none)
        case .forget: return .deliver(stored == nil ? .none : .forget)
        // B7.102: an answer that could serve no request is not kept; what it would have taken the place
        // of is not right any more.
        case .store where !news.trust.isOfUse: return .deliver(stored == nil ? .none : .forget)
        // B7.104: what is stored could not be told from an answer that is for all.
        case .store where isUsers && !CacheControl(news.fields).isPublic:
            return .deliver(stored == nil ? .none : .forget)
        case .store:
            return .deliver(
                .store(
                    StoredAnswer(
                        status: status, fields: StoringRules.storedFields(news.fields), requestTime: news.requestTime,
                        responseTime: news.responseTime,
                        selection: Selection(answer: news.fields, request: request, salt: salt()), trust: news.trust)))
        }
    }

    // MARK: Before

    private static func validation(of stored: StoredAnswer) -> CacheDecision {
        let validators = stored.validators
        return validators.isEmpty ? .load : .validate(validators.conditions)
    }

    private static func isFresh(_ stored: StoredAnswer, _ control: CacheControl, _ now: WallTime) -> Bool {
        stored.lifetime(control).seconds > stored.age(at: now)
    }

    /// Whether a stored answer that the request selects may be used without asking (B7.34, B7.37, B7.62 to B7.66).
    private static func isUsable(
        _ stored: StoredAnswer, _ asked: CacheControl, _ request: Fields, _ now: WallTime
    ) -> Bool {
        let control = stored.control
        if control.noStore { return false }
        if control.noCache || asked.noCache || !asked.isPresent && Pragma.asksForValidation(request) { return false }
        let age = stored.age(at: now)
        let rest = stored.lifetime(control).seconds - age
        switch asked.maxAge {
        case .absent: break
        case .invalid: return false
        // A request that says 0 wants to hear from the server, even within the second.
        case .count(let seconds): if seconds == 0 || age > seconds { return false }
        }
        switch asked.minFresh {
        case .absent: break
        case .invalid: return false
        case .count(let seconds): if rest < seconds { return false }
        }
        if rest > 0 { return true }
        // B7.63, B7.67: stale only for requests that say that they take it.
        guard !control.mustRevalidate, case .count(let seconds) = asked.maxStale else { return false }
        return -rest <= seconds
    }

    // MARK: After

    /// B7.80: what HEAD tells about the stored answer for GET.
    private static func changeByHead(
        _ request: Fields, _ status: Int, _ news: ValidationRules.News, _ stored: StoredAnswer?,
        _ salt: @autoclosure () -> SipHash.Words
    ) -> CacheChange {
        guard status == 200, let stored, stored.status == 200, stored.selection.matches(request) else { return .none }
        guard var fresh = ValidationRules.freshened(stored, byHead: news) else { return .forget }
        fresh.select(by: news, request: request, salt: salt())
        return StoringRules.renewal(by: fresh, request: request)
    }
}

extension StoredAnswer {
    /// A Vary that came with news is the one that is stored, and shown (B7.74): what it names of the request that was
    /// just confirmed selects the answer from now on (B7.81).
    fileprivate mutating func select(
        by news: ValidationRules.News, request: Fields, salt: @autoclosure () -> SipHash.Words
    ) {
        guard news.fields.contains(.vary) else { return }
        selection = Selection(answer: fields, request: request, salt: salt())
    }
}
