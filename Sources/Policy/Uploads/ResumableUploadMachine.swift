// One resumable upload, from the request that creates it to the answer that ends it: what a 104 means, what is asked
// and sent after a connection was lost, and when it is enough. Behaviour B11.22 to B11.38,
// draft-ietf-httpbis-resumable-upload.
//
// One exchange follows the other, never two at once (B11.38). Must not know: requests, time, where the body comes from.

import URLLoadingWire

/// Decides what follows in a resumable upload.
package struct ResumableUploadMachine: Sendable {
    /// How often and how soon it is tried again.
    package struct Patience: Sendable, Equatable {
        /// How many attempts in a row may bring the server nothing.
        package var attempts = 8
        /// The pause before the first of them.
        package var firstDelay = Duration.milliseconds(500)
        /// No pause is longer.
        package var longestDelay = Duration.seconds(30)

        /// The usual.
        package init() {}

        /// The pause after so many attempts that came to nothing: each twice as long as the last.
        package func delay(after attempts: Int) -> Duration {
            guard attempts > 0 else { return .zero }
            return BackOff.wait(afterFailure: attempts, first: firstDelay, longest: longestDelay)
        }
    }

    /// What is done next.
    package enum Step: Sendable, Equatable {
        /// The server is asked how much it has (B11.31), after a pause.
        case query(after: Duration)
        /// The body goes on from an offset (B11.32); without a count, to its end.
        case append(offset: Int64, count: Int64?, completes: Bool)
        /// The upload resource is given up (B11.33), and then the upload fails.
        case remove
        /// The answer that has come is the answer to the upload (B11.34).
        case deliver
        /// The upload fails.
        case fail(UploadFailure)
    }

    private enum Exchange: Equatable {
        case creation
        case query
        case append(offset: Int64, count: Int64?, completes: Bool)
        case removal(UploadFailure)
    }

    /// The URL that the first request went to, and its origin.
    private let target: String
    private let length: Int64?
    /// Whether any part of the body can be had.
    private let isDivisible: Bool
    private let patience: Patience
    private var exchange: Exchange
    /// What has been found wrong while an exchange was under way.
    private var fault: UploadFailure?
    private var limits = UploadLimits()
    /// The most that may have reached the server.
    private var mostSent: Int64
    /// What the server has said that it has.
    private var confirmed: Int64 = 0
    /// Attempts in a row that brought the server nothing.
    private var fruitless = 0

    /// The URL of the upload resource, once it is known.
    package private(set) var resource: String?

    /// A new upload, whose first request goes to `target` and sends all of it; `isDivisible`: any
    /// part of the body can be had.
    package init(target: String, length: Int64?, isDivisible: Bool, patience: Patience) {
        self.target = target
        self.length = length
        self.isDivisible = isDivisible
        self.patience = patience
        exchange = .creation
        mostSent = 0
    }

    /// An upload that was begun before; nil where the resource is not one that `target` may have named.
    package init?(
        resuming resource: String, target: String, length: Int64?, isDivisible: Bool, patience: Patience
    ) {
        guard let url = UploadResource.url(resource, against: target) else { return nil }
        self.init(target: target, length: length, isDivisible: isDivisible, patience: patience)
        self.resource = url
        exchange = .query
        // What was sent of it before is not known.
        mostSent = length ?? .max
    }

    /// Whether the exchange under way is the first, which the program's own request is.
    package var isCreating: Bool { exchange == .creation }

    /// Whether the upload is being given up.
    package var isRemoving: Bool { if case .removal = exchange { true } else { false } }

    /// Forgets the resource: the upload goes on as an ordinary one.
    package mutating func forgetResource() {
        resource = nil
    }

    // MARK: While an exchange is under way

    /// An informational answer has come, with so much of the body sent; whether the exchange is to be broken off.
    package mutating func informed(_ head: ResponseHead, sent: Int64) -> Bool {
        let report = UploadReport(head)
        guard report.status == 104, report.isOfOurVersion, fault == nil else { return false }
        noteSent(sent)
        if let location = head.fields.reference(.location), isCreating { note(location: location) }
        // Without a resource there is nothing to which the rest could belong (B11.25).
        guard resource != nil else { return false }
        note(report.limits)
        if let offset = report.offset { note(offset: offset) }
        return fault != nil
    }

    /// Whether this answer to the exchange under way is the answer to the upload (B11.34).
    package func isAnswer(_ head: ResponseHead) -> Bool {
        guard fault == nil else { return false }
        let report = UploadReport(head)
        switch exchange {
        case .creation: return true
        case .query: return report.isSuccess && report.isComplete == true && hasAll(report.offset)
        case .append(_, _, let completes):
            // Servers that have nothing more to say about a part that completes leave the field out.
            return report.isComplete ?? (completes && report.isSuccess)
        case .removal: return false
        }
    }

    /// How much the server has by an answer to the upload that came without a part having been sent for it; nil for
    /// other answers.
    package func wholeCount(by head: ResponseHead) -> Int64? {
        guard case .query = exchange, isAnswer(head) else { return nil }
        return length ?? UploadReport(head).offset
    }

    // MARK: After an exchange

    /// The exchange has ended with an answer that is not the upload's, with so much of the body sent.
    package mutating func answered(_ head: ResponseHead, sent: Int64) -> Step {
        noteSent(sent)
        let report = UploadReport(head)
        switch exchange {
        case .creation: return .deliver
        case .removal(let failure): return .fail(failure)
        case .query:
            if let step = stopped(by: report, head) { return step }
            return answered(query: report)
        case .append(let offset, let count, let completes):
            if let step = stopped(by: report, head) { return step }
            return answered(append: report, offset: offset, count: count, completes: completes)
        }
    }

    /// The connection was lost; nil where the upload cannot be resumed (B11.25).
    package mutating func lost(sent: Int64) -> Step? {
        noteSent(sent)
        if case .removal(let failure) = exchange { return .fail(failure) }
        if fault != nil { return giveUp() }
        return resource == nil ? nil : ask(fruitful: false)
    }

    /// What an upload that was begun before starts with.
    package mutating func begin() -> Step { ask(fruitful: true) }

    // MARK: Answers

    private mutating func answered(query report: UploadReport) -> Step {
        note(report.limits)
        guard let offset = report.offset else { return .fail(.unknownOffset) }
        let before = confirmed
        note(offset: offset)
        if fault != nil { return giveUp() }
        if report.isComplete == true {
            return .fail(.completeTooEarly(offset, length: length ?? offset))
        }
        if confirmed > before { fruitless = 0 }
        return append()
    }

    private mutating func answered(
        append report: UploadReport, offset: Int64, count: Int64?, completes: Bool
    ) -> Step {
        note(report.limits)
        // B11.34: without the field an append that was to complete the upload has done so; here the server says no.
        guard let count else { return ask(fruitful: false) }
        let before = confirmed
        note(offset: report.offset ?? offset + (completes ? 0 : count))
        if fault != nil { return giveUp() }
        guard confirmed > before else { return ask(fruitful: false) }
        fruitless = 0
        return append()
    }

    /// What an answer leads to that is no success (B11.35).
    private mutating func stopped(by report: UploadReport, _ head: ResponseHead) -> Step? {
        if fault != nil { return giveUp() }
        switch report.status {
        case 200..<300: return nil
        case 307, 308:
            // What was sent of a part went to the old place, so the new one is asked first. A
            // circle ends with the attempts.
            guard let location = head.fields.reference(.location), let resource,
                let moved = UploadResource.url(location, against: resource)
            else { return .fail(.refused(status: report.status)) }
            self.resource = moved
            return ask(fruitful: false)
        case 404, 410: return .fail(.gone(status: report.status))
        // RFC 9110 §15.5.9, RFC 6585 §4: these say that it may be tried again.
        case 409, 408, 429, 500...: return ask(fruitful: false)
        default: return .fail(.refused(status: report.status))
        }
    }

    // MARK: Steps

    private mutating func ask(fruitful: Bool) -> Step {
        if !fruitful { fruitless += 1 }
        guard fruitless <= patience.attempts else { return .fail(.noProgress(attempts: fruitless - 1)) }
        exchange = .query
        return .query(after: patience.delay(after: fruitless))
    }

    private mutating func append() -> Step {
        let left = length.map { $0 - confirmed }
        var count = left
        if let most = limits.maxAppendSize, left.map({ $0 > most }) ?? true {
            // A stream can neither be cut nor be asked for a part of it, and a gigabyte is not sent byte by byte.
            guard isDivisible, let left, most > 0, left / most < Self.mostParts, most >= limits.minAppendSize ?? 0
            else { return giveUp(because: .unusableParts(limit: most)) }
            count = most
        }
        let completes = count == left
        exchange = .append(offset: confirmed, count: count, completes: completes)
        return .append(offset: confirmed, count: count, completes: completes)
    }

    private mutating func giveUp(because failure: UploadFailure? = nil) -> Step {
        guard let failure = failure ?? fault else { return .fail(.unknownOffset) }
        fault = nil
        exchange = .removal(failure)
        return .remove
    }

    // MARK: What is learnt

    private mutating func note(location: String) {
        // B11.25: the first counts, and every other has to say the same.
        let url = UploadResource.url(location, against: target)
        if let resource, resource != url {
            fault = .movedElsewhere
        } else {
            resource = url
        }
    }

    private mutating func note(_ limits: UploadLimits?) {
        guard let limits else { return }
        self.limits = limits
        guard let length else { return }
        if let most = limits.maxSize, length > most { fault = .tooLarge(limit: most) }
        if let least = limits.minSize, length < least { fault = .tooSmall(limit: least) }
    }

    private mutating func note(offset: Int64) {
        let most = min(mostSent, length ?? .max)
        if offset > most {
            fault = .offsetTooLarge(offset, sent: most)
        } else if offset < confirmed {
            fault = .offsetDecreased(from: confirmed, to: offset)
        } else {
            confirmed = offset
        }
    }

    private mutating func noteSent(_ sent: Int64) {
        mostSent = max(mostSent, sent)
    }

    private func hasAll(_ offset: Int64?) -> Bool {
        guard let length else { return true }
        return offset.map { $0 == length } ?? true
    }

    /// More parts than this are not a limit but a trap.
    private static let mostParts: Int64 = 100_000
}

/// Where an upload resource may be.
enum UploadResource {
    /// The URL that a Location means; nil where it leads to another origin, or out of http: what goes there would take
    /// the program's content, and its secrets, to whomever a server names.
    static func url(_ location: String, against target: String) -> String? {
        var base = URIReference(target)
        // A name and a password belong to the program's own URL.
        base.authority = base.authority.map { withoutUser($0) }
        guard let text = RedirectTarget.resolve(location: location, against: base.text) else { return nil }
        var reference = URIReference(text)
        reference.fragment = nil
        guard reference.authority?.utf8.contains(UInt8(ascii: "@")) == false,
            let place = origin(of: reference), place == origin(of: base)
        else { return nil }
        return reference.text
    }

    private static func withoutUser(_ authority: String) -> String {
        guard let at = authority.utf8.lastIndex(of: UInt8(ascii: "@")) else { return authority }
        return String(authority[authority.utf8.index(after: at)...])
    }

    private static func origin(of reference: URIReference) -> Origin? {
        guard let scheme = reference.scheme, let hostAndPort = reference.authority?.utf8[...] else { return nil }
        var host = hostAndPort
        var port: Int?
        let bracket = hostAndPort.lastIndex(of: UInt8(ascii: "]")) ?? hostAndPort.startIndex
        if let colon = hostAndPort[bracket...].lastIndex(of: UInt8(ascii: ":")) {
            host = hostAndPort[..<colon]
            let digits = hostAndPort[hostAndPort.index(after: colon)...]
            if !digits.isEmpty {
                guard let number = ASCII.decimal(digits).flatMap({ Int(exactly: $0) }) else { return nil }
                port = number
            }
        }
        return Origin(scheme: scheme, host: String(Substring(host)), port: port)
    }
}
