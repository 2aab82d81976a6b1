// Where a download has stopped: what is asked for to go on, and what the answer means. RFC 9110 §13.1.5, §14.
//
// Must not know: files, delegates.

import Foundation
import URLLoading
import URLLoadingPolicy
import URLLoadingWire

/// What a download needs to go on; the file is where the program says.
struct ResumePoint: Codable, Sendable, Equatable {
    private var version = 1
    /// What was asked for, without the user: the download proves itself anew.
    let url: URL
    /// What the file must still be, as If-Range says it.
    let validator: String
    /// How many bytes were saved.
    let received: Int64

    /// The point at which a response has stopped after so many bytes; nil where no request could go on from there
    /// (B9.21 to B9.23). `asked` is what the request was made to go on from.
    init?(_ request: URLRequest, _ response: URLResponse?, received: Int64, asked: ResumePoint?) {
        guard received > 0, let url = request.url?.withoutUser, Self.canNameServer(url),
            let http = response as? HTTPURLResponse
        else { return nil }
        var fields = Fields()
        // A request that goes on has its range from here, not from the program.
        if asked == nil {
            for (name, value) in request.allHTTPHeaderFields ?? [:] { fields.append(name, value) }
        }
        let validator = ResumeRules.validator(
            method: request.httpMethod ?? "GET", isHTTP: true, request: fields, status: http.statusCode,
            fields: http.arrivedFields, time: .now, known: asked?.known)
        switch validator {
        case .tag(let text), .date(let text): self.validator = text
        case .file, nil: return nil
        }
        self.url = url
        self.received = received
    }

    /// Reads what `data` has written. They may come from anywhere, and nothing in them is believed.
    init?(_ data: Data) {
        guard let point = try? PropertyListDecoder().decode(ResumePoint.self, from: data), point.version == 1,
            point.received > 0, !point.validator.isEmpty, Self.canNameServer(point.url)
        else { return nil }
        self = point
    }

    /// Whether a download can be gone on with there. A file of this machine's would be copied to where the program
    /// wants the server's.
    private static func canNameServer(_ url: URL) -> Bool { url.scheme.flatMap { Scheme($0) } != nil }

    /// The point, to be kept.
    var data: Data? {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        return try? encoder.encode(self)
    }

    /// The request for what is behind the first `count` bytes.
    func ask(_ request: URLRequest, behind count: Int64) -> URLRequest {
        var request = request
        request.setValue("bytes=\(count)-", forHTTPHeaderField: "Range")
        request.setValue(validator, forHTTPHeaderField: "If-Range")
        return request
    }

    /// What an answer to that request means.
    enum Answer: Equatable {
        /// The body goes behind the bytes that are there, and `end` is behind its last byte.
        case goesOn(end: Int64)
        /// The body is all of it: the file has changed.
        case beginsAnew
        /// There is nothing behind the bytes that are there.
        case isWhole
        /// It cannot be used.
        case isUseless
    }

    /// What an answer to a request for what is behind the first `count` bytes means (B9.27 to B9.31).
    func meaning(of response: URLResponse, behind count: Int64) -> Answer {
        guard let http = response as? HTTPURLResponse else { return .beginsAnew }
        let length = http.expectedContentLength
        let meaning = ResumeRules.meaning(
            ofStatus: http.statusCode, fields: http.arrivedFields, length: length >= 0 ? length : nil, time: .now,
            offset: count, total: nil, validator: known)
        switch meaning {
        case .continues(let end, _): return .goesOn(end: end)
        case .whole: return http.statusCode == 200 ? .beginsAnew : .isUseless
        case .complete: return .isWhole
        case .startsOver, .result: return .isUseless
        }
    }

    /// The validator in the words of the rules: what is no date is a tag.
    private var known: ResumeValidator {
        HTTPDate.parse(validator, now: .now) == nil ? .tag(validator) : .date(validator)
    }
}
