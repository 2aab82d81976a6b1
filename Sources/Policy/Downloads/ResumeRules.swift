// Whether a download that broke off can be taken up again, what is then asked, and what the answer
// means: RFC 9110 §13.1.5, §14 and §15.3.7, behaviour B9.21 to B9.31. Must not know files, tasks, nor
// where what was loaded is kept.

import URLLoadingWire

/// By what a server is asked whether the rest still belongs to what is there.
package enum ResumeValidator: Sendable, Equatable {
    /// A strong entity tag.
    case tag(String)
    /// The text of a Last-Modified that is old enough to be strong.
    case date(String)
    /// Length and date of a file on an FTP server, which are looked at by us: HTTP's fields have no word for them.
    case file(FTPFileState)

    package static func == (left: ResumeValidator, right: ResumeValidator) -> Bool {
        switch (left, right) {
        case (.tag(let left), .tag(let right)), (.date(let left), .date(let right)): left.hasSameBytes(as: right)
        case (.file(let left), .file(let right)): left == right
        case (.tag, _), (.date, _), (.file, _): false
        }
    }
}

/// What the answer to a request for the rest means.
package enum ResumedAnswer: Sendable, Equatable {
    /// The rest comes (B9.27), and `end` is behind its last byte; the whole is so long, where that is known.
    case continues(end: Int64, total: Int64?)
    /// What comes is the whole, of what is now another thing: the old bytes go (B9.29).
    case whole
    /// What is there is all there is (B9.30).
    case complete
    /// What comes is of no use: the request goes out once more, without a range (B9.28, B9.30).
    case startsOver
    /// The answer is about something else than the rest, and is the result; what is there stays as it is (B9.31).
    case result
}

/// The rules of resuming.
package enum ResumeRules {
    /// By what an answer can be continued when it breaks off; nil where it cannot.
    ///
    /// `request` are the fields of the program's own request: one that asks for a part itself, or under conditions, is
    /// not ours to put together. `known` is by what the answer was asked to be the rest of something.
    package static func validator(
        method: String, isHTTP: Bool, request: Fields, status: Int, fields: Fields, time: WallTime,
        known: ResumeValidator? = nil
    ) -> ResumeValidator? {
        guard isHTTP, method == "GET", status == 200 || status == 206 && known != nil, !Validators.asksItself(request),
            !isCoded(fields), !refusesRanges(fields)
        else { return nil }
        return own(fields, time: time) ?? (status == 206 ? known : nil)
    }

    /// The validator that an answer brings (B9.22).
    private static func own(_ fields: Fields, time: WallTime) -> ResumeValidator? {
        let validators = Validators(fields, time: time)
        if let tag = validators.sendableTag, !tag.isWeak, isQuoted(tag.text) { return .tag(tag.text) }
        guard let text = validators.lastModified, let modified = HTTPDate.parse(text, now: time),
            let date = fields.first(.date).flatMap({ HTTPDate.parse($0, now: time) })
        else { return nil }
        // RFC 9110 §8.8.2.2: what changed in the last minute may have changed twice in one second.
        return modified + strongAge <= date ? .date(text) : nil
    }

    /// The fields of the request for the rest (B9.26).
    package static func fields(from offset: Int64, _ validator: ResumeValidator) -> Fields {
        var fields = Fields()
        fields.append(.range, "bytes=\(offset)-")
        switch validator {
        case .tag(let text), .date(let text): fields.append(.ifRange, text)
        case .file: return Fields()
        }
        // A part of what is coded would be of no use, and what is there is not.
        fields.append(.acceptEncoding, "identity")
        return fields
    }

    /// What an answer to such a request means. `length` is its body's, where it is known; `total` is what the length of
    /// the whole was said to be before.
    package static func meaning(
        ofStatus status: Int, fields: Fields, length: Int64?, time: WallTime, offset: Int64, total: Int64?,
        validator: ResumeValidator
    ) -> ResumedAnswer {
        let ranges = fields.values(.contentRange)
        let range = ranges.count == 1 ? ContentRange(ranges[0]) : nil
        switch status {
        case 206:
            // All of the rest, or it would have to be asked for a third time.
            guard case .part(let first, let last, let whole) = range, first == offset, !isCoded(fields),
                agrees(whole, total), agrees(last + 1, whole ?? total), agrees(length, last - first + 1),
                belongs(fields, to: validator, time)
            else { return .startsOver }
            return .continues(end: last + 1, total: whole)
        case 416:
            guard case .unsatisfied(let whole) = range, whole == offset, agrees(whole, total) else {
                return .startsOver
            }
            return .complete
        case 200...299: return .whole
        default: return .result
        }
    }

    /// Whether the part is one of the thing that was begun (RFC 9110 §15.3.7.3); a server may leave the validator out.
    private static func belongs(_ fields: Fields, to validator: ResumeValidator, _ time: WallTime) -> Bool {
        switch validator {
        case .tag(let text):
            var isSame = true
            fields.forEachValue(.eTag) { isSame = isSame && $0.elementsEqual(text.utf8) }
            return isSame
        case .date(let text):
            guard let other = fields.first(.lastModified) else { return true }
            return other == text || HTTPDate.parse(other, now: time) == HTTPDate.parse(text, now: time)
        case .file: return false
        }
    }

    private static func agrees(_ length: Int64?, _ total: Int64?) -> Bool {
        guard let length, let total else { return true }
        return length == total
    }

    /// B9.23: of a coded body the bytes in the file are not those that a range counts.
    private static func isCoded(_ fields: Fields) -> Bool {
        fields.values(.contentEncoding).contains { !$0.isEmpty && !ASCII.isEqual($0, "identity") }
    }

    private static func refusesRanges(_ fields: Fields) -> Bool { fields.hasToken(.acceptRanges, "none") }

    /// What stands without quotes could be taken for a date (RFC 9110 §13.1.5).
    private static func isQuoted(_ tag: String) -> Bool {
        tag.utf8.count >= 2 && tag.utf8.first == UInt8(ascii: "\"") && tag.utf8.last == UInt8(ascii: "\"")
    }

    private static let strongAge: Int64 = 60
}
