// What has been learnt about the types of delegates, and delegates cast once to all protocols they may conform to.

import Synchronization

/// A delegate's method that waits for an answer.
enum AskingMethod {
    case redirect
    case response
    /// What may be stored in the cache.
    case storing
    case bodyStream
    case bodyStreamFrom
    case delayed
    /// The session's method for challenges.
    case sessionChallenge
    /// The tasks' method for challenges.
    case taskChallenge
}

/// In which form a type implements a method.
enum MethodForm: UInt8, AtomicRepresentable {
    case unknown
    case handler
    case async
    case absent
}

/// What has been learnt about one type of delegate; kept for the life of the process.
final class DelegateForms: Sendable {
    private let redirect = Atomic<MethodForm>(.unknown)
    private let response = Atomic<MethodForm>(.unknown)
    private let storing = Atomic<MethodForm>(.unknown)
    private let bodyStream = Atomic<MethodForm>(.unknown)
    private let bodyStreamFrom = Atomic<MethodForm>(.unknown)
    private let delayed = Atomic<MethodForm>(.unknown)
    private let sessionChallenge = Atomic<MethodForm>(.unknown)
    private let taskChallenge = Atomic<MethodForm>(.unknown)
    private let lacksMetrics = Atomic<Bool>(false)

    /// Whether the type may have the method for metrics.
    var mayTakeMetrics: Bool { !lacksMetrics.load(ordering: .relaxed) }

    /// Notes that the type has not the method for metrics, so that none are made for it again.
    func learnLackOfMetrics() { lacksMetrics.store(true, ordering: .relaxed) }

    func form(_ method: AskingMethod) -> MethodForm {
        switch method {
        case .redirect: redirect.load(ordering: .relaxed)
        case .response: response.load(ordering: .relaxed)
        case .storing: storing.load(ordering: .relaxed)
        case .bodyStream: bodyStream.load(ordering: .relaxed)
        case .bodyStreamFrom: bodyStreamFrom.load(ordering: .relaxed)
        case .delayed: delayed.load(ordering: .relaxed)
        case .sessionChallenge: sessionChallenge.load(ordering: .relaxed)
        case .taskChallenge: taskChallenge.load(ordering: .relaxed)
        }
    }

    func learn(_ method: AskingMethod, _ form: MethodForm) {
        switch method {
        case .redirect: redirect.store(form, ordering: .relaxed)
        case .response: response.store(form, ordering: .relaxed)
        case .storing: storing.store(form, ordering: .relaxed)
        case .bodyStream: bodyStream.store(form, ordering: .relaxed)
        case .bodyStreamFrom: bodyStreamFrom.store(form, ordering: .relaxed)
        case .delayed: delayed.store(form, ordering: .relaxed)
        case .sessionChallenge: sessionChallenge.store(form, ordering: .relaxed)
        case .taskChallenge: taskChallenge.store(form, ordering: .relaxed)
        }
    }

    /// The record of the delegate's type.
    static func of(_ delegate: any URLSessionDelegate) -> DelegateForms {
        let type = ObjectIdentifier(Swift.type(of: delegate))
        return records.withLock { records in
            if let record = records[type] { return record }
            let record = DelegateForms()
            records[type] = record
            return record
        }
    }

    private static let records = Mutex<[ObjectIdentifier: DelegateForms]>([:])
}

/// A delegate, cast once to all the protocols it may conform to.
///
/// A class: every task of a session looks at the session's, and to copy it would count five references.
final class DelegateView: Sendable {
    let session: any URLSessionDelegate
    let task: (any URLSessionTaskDelegate)?
    let data: (any URLSessionDataDelegate)?
    let download: (any URLSessionDownloadDelegate)?
    let forms: DelegateForms
    /// A delegate whose methods come and go.
    private let handlers: URLSession.EventHandlers?

    init(_ delegate: any URLSessionDelegate) {
        session = delegate
        task = delegate as? any URLSessionTaskDelegate
        data = delegate as? any URLSessionDataDelegate
        download = delegate as? any URLSessionDownloadDelegate
        forms = DelegateForms.of(delegate)
        handlers = delegate as? URLSession.EventHandlers
    }

    /// Whether the delegate may have a method for challenges.
    var mayAnswerChallenges: Bool { mayImplement(.sessionChallenge) || mayImplement(.taskChallenge) }

    /// Whether the delegate may have the method: `false` only when it is known not to.
    func mayImplement(_ method: AskingMethod) -> Bool {
        if let handlers { return handlers.answers(method) }
        return switch method {
        case .redirect: task != nil && forms.form(.redirect) != .absent
        case .bodyStream, .bodyStreamFrom: task != nil && forms.form(method) != .absent
        case .response, .storing: data != nil && forms.form(method) != .absent
        case .delayed, .taskChallenge: task != nil && forms.form(method) != .absent
        case .sessionChallenge: forms.form(method) != .absent
        }
    }

    /// Whether the delegate may have the method for metrics.
    var mayTakeMetrics: Bool { task != nil && (handlers?.takesMetrics ?? forms.mayTakeMetrics) }

    /// Whether the delegate is known to have the session's method for challenges.
    private var answersForSession: Bool {
        if let handlers { return handlers.answers(.sessionChallenge) }
        return switch forms.form(.sessionChallenge) {
        case .handler, .async: true
        case .unknown, .absent: false
        }
    }

    /// Whether a task's own delegate may be asked about the task's connections. By the session's method it is asked
    /// first, by the tasks' only where the session's delegate does not have the session's (B1.99). That of a type which
    /// was not asked yet may be.
    func mayJudge(beside session: DelegateView?) -> Bool {
        if let session, session.session === self.session { return false }
        if mayImplement(.sessionChallenge) { return true }
        return mayImplement(.taskChallenge) && !(session?.answersForSession ?? false)
    }
}
