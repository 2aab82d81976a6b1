// When a download can be continued, how the rest is asked for, and what the answer means.

import Testing
import URLLoadingPolicy
import URLLoadingWire

@Suite("Resume rules")
struct ResumeRulesTests {
    private let now = WallTime(seconds: 1_700_000_000)

    private func fields(_ lines: [String]) -> Fields {
        var fields = Fields()
        for line in lines {
            let parts = line.split(separator: ":", maxSplits: 1)
            fields.append(String(parts[0]), String(parts[1].drop { $0 == " " }))
        }
        return fields
    }

    private func validator(
        _ lines: [String], method: String = "GET", request: [String] = [], status: Int = 200,
        known: ResumeValidator? = nil
    ) -> ResumeValidator? {
        ResumeRules.validator(
            method: method, isHTTP: true, request: fields(request), status: status, fields: fields(lines), time: now,
            known: known)
    }

    @Test("B9.21, B9.22: a strong tag counts first, then a date that was a minute old when the answer was made")
    func validators() {
        let old = "Last-Modified: Tue, 14 Nov 2023 20:00:00 GMT"
        let date = "Date: Tue, 14 Nov 2023 20:01:00 GMT"
        #expect(validator(["ETag: \"v1\""]) == .tag("\"v1\""))
        #expect(validator(["ETag: \"v1\"", old, date]) == .tag("\"v1\""))
        #expect(validator([old, date]) == .date("Tue, 14 Nov 2023 20:00:00 GMT"))
        #expect(validator(["ETag: W/\"v1\"", old, date]) == .date("Tue, 14 Nov 2023 20:00:00 GMT"))
        #expect(validator(["ETag: W/\"v1\""]) == nil)
        #expect(validator([old, "Date: Tue, 14 Nov 2023 20:00:59 GMT"]) == nil)
        #expect(validator([old]) == nil)
        #expect(validator(["Last-Modified: yesterday", date]) == nil)
        #expect(validator(["ETag: v1"]) == nil)
        #expect(validator(["ETag: \"a\"", "ETag: \"b\""]) == nil)
        #expect(validator([]) == nil)
    }

    @Test("B9.22: a tag that is not UTF-8 is not sent back as other bytes: then the date counts")
    func otherBytes() {
        var answer = fields(["Last-Modified: Tue, 14 Nov 2023 20:00:00 GMT", "Date: Tue, 14 Nov 2023 20:01:00 GMT"])
        answer.append("ETag", latin1: "\"é\"")
        func validator(_ answer: Fields) -> ResumeValidator? {
            ResumeRules.validator(
                method: "GET", isHTTP: true, request: Fields(), status: 200, fields: answer, time: now)
        }
        #expect(validator(answer) == .date("Tue, 14 Nov 2023 20:00:00 GMT"))
        answer.removeAll("Last-Modified")
        #expect(validator(answer) == nil)
    }

    @Test("B9.21, B9.23: not for other methods and statuses, coded bodies, refused ranges, requests for parts")
    func conditions() {
        let tag = "ETag: \"v1\""
        #expect(validator([tag], method: "POST") == nil)
        #expect(validator([tag], method: "HEAD") == nil)
        for status in [201, 204, 206, 301, 404, 500] { #expect(validator([tag], status: status) == nil) }
        #expect(validator([tag, "Content-Encoding: gzip"]) == nil)
        #expect(validator([tag, "Content-Encoding: identity"]) != nil)
        #expect(validator([tag, "Accept-Ranges: none"]) == nil)
        #expect(validator([tag, "Accept-Ranges: bytes"]) != nil)
        #expect(validator([tag], request: ["Range: bytes=5-"]) == nil)
        #expect(validator([tag], request: ["If-None-Match: \"x\""]) == nil)
        #expect(
            ResumeRules.validator(
                method: "GET", isHTTP: false, request: Fields(), status: 200, fields: fields([tag]), time: now) == nil)
        // The rest of something can break off too, and need not repeat by what it was asked for.
        #expect(validator([], status: 206, known: .tag("\"v1\"")) == .tag("\"v1\""))
        #expect(validator([], status: 200, known: .tag("\"v1\"")) == nil)
    }

    @Test("B9.26: the request for the rest")
    func request() {
        let fields = ResumeRules.fields(from: 1 << 33, .tag("\"v1\""))
        #expect(fields.first(.range) == "bytes=8589934592-")
        #expect(fields.first(.ifRange) == "\"v1\"")
        #expect(fields.first(.acceptEncoding) == "identity")
        let date = "Tue, 14 Nov 2023 20:00:00 GMT"
        #expect(ResumeRules.fields(from: 1, .date(date)).first(.ifRange) == date)
    }

    private func meaning(
        _ status: Int, _ lines: [String] = [], length: Int64? = nil, total: Int64? = 10,
        validator: ResumeValidator = .tag("\"v1\"")
    ) -> ResumedAnswer {
        ResumeRules.meaning(
            ofStatus: status, fields: fields(lines), length: length, time: now, offset: 5, total: total,
            validator: validator)
    }

    @Test("B9.27: 206 with the rest goes on")
    func continues() {
        #expect(meaning(206, ["Content-Range: bytes 5-9/10"]) == .continues(end: 10, total: 10))
        #expect(meaning(206, ["Content-Range: bytes 5-9/10"], length: 5) == .continues(end: 10, total: 10))
        #expect(meaning(206, ["Content-Range: Bytes 5-9/*"]) == .continues(end: 10, total: nil))
        #expect(meaning(206, ["Content-Range: bytes 5-9/10", "ETag: \"v1\""]) == .continues(end: 10, total: 10))
        #expect(meaning(206, ["Content-Range: bytes 5-7/8"], total: nil) == .continues(end: 8, total: 8))
    }

    @Test(
        "B9.28: 206 with anything else starts over",
        arguments: [
            [], ["Content-Range: bytes 4-9/10"], ["Content-Range: bytes 6-9/10"], ["Content-Range: bytes 5-9/11"],
            ["Content-Range: bytes 5-10/11"], ["Content-Range: bytes 5-8/10"], ["Content-Range: bytes 5-8/*"],
            ["Content-Range: pages 5-9/10"], ["Content-Range: bytes 5-9"], ["Content-Range: bytes */10"],
            ["Content-Range: bytes 5-9223372036854775807/*"], ["Content-Range: bytes 5-99999999999999999999/*"],
            ["Content-Range: bytes -5-9/10"], ["Content-Range: bytes 9-5/10"], ["Content-Range: bytes 5-10/10"],
            ["Content-Range: bytes 5-9/10", "Content-Range: bytes 5-9/10"],
            ["Content-Range: bytes 5-9/10", "ETag: \"v2\""], ["Content-Range: bytes 5-9/10", "ETag: W/\"v1\""],
            ["Content-Range: bytes 5-9/10", "Content-Encoding: gzip"],
        ])
    func otherRange(lines: [String]) {
        #expect(meaning(206, lines) == .startsOver)
    }

    @Test("B9.28: a body that is not as long as its range starts over")
    func otherLength() {
        #expect(meaning(206, ["Content-Range: bytes 5-9/10"], length: 4) == .startsOver)
    }

    @Test("B9.28: another date starts the download over; the known date in another form continues it")
    func otherDate() {
        let known = ResumeValidator.date("Tue, 14 Nov 2023 20:00:00 GMT")
        let range = "Content-Range: bytes 5-9/10"
        let other = "Last-Modified: Tue, 14 Nov 2023 20:00:01 GMT"
        #expect(meaning(206, [range, other], validator: known) == .startsOver)
        let same = "Last-Modified: Tue Nov 14 20:00:00 2023"
        #expect(meaning(206, [range, same], validator: known) == .continues(end: 10, total: 10))
    }

    @Test("B9.29, B9.31: 200 is the whole; an error is the result")
    func others() {
        #expect(meaning(200, ["ETag: \"v2\""]) == .whole)
        for status in [400, 401, 403, 404, 410, 500, 503] { #expect(meaning(status) == .result) }
    }

    @Test("B9.30: 416 behind the last byte is the end; any other starts over")
    func unsatisfied() {
        #expect(meaning(416, ["Content-Range: bytes */5"], total: nil) == .complete)
        #expect(meaning(416, ["Content-Range: bytes */5"], total: 5) == .complete)
        #expect(meaning(416, ["Content-Range: bytes */5"], total: 10) == .startsOver)
        #expect(meaning(416, ["Content-Range: bytes */4"], total: nil) == .startsOver)
        #expect(meaning(416, total: nil) == .startsOver)
    }
}
