// The rules of resumable uploads (behaviour 11.2), exchange by exchange.

import Testing
import URLLoadingPolicy
import URLLoadingWire

@Suite("Resumable uploads: the machine")
struct ResumableUploadMachineTests {
    /// A machine behind a reference, so that what it says can be compared where it is said.
    private final class Machine {
        private var machine: ResumableUploadMachine

        init(target: String, length: Int64?, isDivisible: Bool, patience: ResumableUploadMachine.Patience) {
            machine = ResumableUploadMachine(
                target: target, length: length, isDivisible: isDivisible, patience: patience)
        }

        init?(resuming resource: String) {
            guard
                let machine = ResumableUploadMachine(
                    resuming: resource, target: ResumableUploadMachineTests.target, length: 100, isDivisible: true,
                    patience: ResumableUploadMachineTests.patience())
            else { return nil }
            self.machine = machine
        }

        var resource: String? { machine.resource }
        func informed(_ head: ResponseHead, sent: Int64) -> Bool { machine.informed(head, sent: sent) }
        func isAnswer(_ head: ResponseHead) -> Bool { machine.isAnswer(head) }
        func answered(_ head: ResponseHead, sent: Int64) -> ResumableUploadMachine.Step {
            machine.answered(head, sent: sent)
        }
        func lost(sent: Int64) -> ResumableUploadMachine.Step? { machine.lost(sent: sent) }
        func begin() -> ResumableUploadMachine.Step { machine.begin() }
    }

    private static let target = "https://example.com/a/files?x#f"

    private static func head(_ status: Int, _ fields: [(String, String)] = []) -> ResponseHead {
        var head = ResponseHead(status: status)
        for (name, value) in fields { head.fields.append(name, value) }
        return head
    }

    private static func created(
        _ location: String? = "/u/1", version: String? = "8", _ more: [(String, String)] = []
    ) -> ResponseHead {
        var fields = more
        if let version { fields.append(("Upload-Draft-Interop-Version", version)) }
        if let location { fields.append(("Location", location)) }
        return head(104, fields)
    }

    private static func state(_ offset: String, _ complete: String = "?0", _ status: Int = 204) -> ResponseHead {
        head(status, [("Upload-Offset", offset), ("Upload-Complete", complete)])
    }

    private static func patience(_ attempts: Int = 3) -> ResumableUploadMachine.Patience {
        var patience = ResumableUploadMachine.Patience()
        patience.attempts = attempts
        patience.firstDelay = .seconds(1)
        patience.longestDelay = .seconds(3)
        return patience
    }

    private static func machine(length: Int64? = 100, divisible: Bool = true) -> Machine {
        Machine(target: target, length: length, isDivisible: divisible, patience: patience())
    }

    /// A machine that knows its resource and has lost its first connection after so many bytes.
    private static func lost(sent: Int64 = 60, length: Int64? = 100, limit: String? = nil) -> Machine {
        let machine = machine(length: length)
        _ = machine.informed(created("/u/1", limit.map { [("Upload-Limit", $0)] } ?? []), sent: 0)
        _ = machine.lost(sent: sent)
        return machine
    }

    // MARK: The beginning

    @Test("B11.22, B11.24: what the first request says")
    func creation() {
        #expect(UploadFields.creation.first("Upload-Complete") == "?1")
        #expect(UploadFields.creation.first("Upload-Draft-Interop-Version") == "8")
        #expect(UploadFields.creation.count == 2)
    }

    @Test(
        "B11.23: a 104 without the version, or with another, is as if it had not come",
        arguments: ["7", "?8", "8.0", "", "8, 8"])
    func otherVersions(version: String) {
        let machine = Self.machine()
        #expect(!machine.informed(Self.created(version: version), sent: 0))
        #expect(!machine.informed(Self.created(version: nil), sent: 0))
        #expect(machine.resource == nil)
        #expect(machine.lost(sent: 50) == nil)
    }

    @Test(
        "B11.25: the resource is what Location means, seen from the request's URL",
        arguments: [
            ("/u/1", "https://example.com/u/1"), ("u", "https://example.com/a/u"),
            ("https://example.com:443/u", "https://example.com:443/u"),
            ("//EXAMPLE.com/u?q", "https://EXAMPLE.com/u?q"),
            ("/u#fragment", "https://example.com/u"),
        ])
    func locations(location: String, url: String) {
        let machine = Self.machine()
        #expect(!machine.informed(Self.created(location), sent: 0))
        #expect(machine.resource == url)
        #expect(machine.lost(sent: 10) == .query(after: .seconds(1)))
    }

    @Test(
        "B11.25: an upload's resource at another origin is not used: it gets neither content nor secrets",
        arguments: [
            "http://example.com/u", "https://example.com:444/u", "https://evil.example/u", "//evil.example/u",
            "ftp://example.com/u", "file:///etc/passwd", "javascript:alert(1)", "", "https://u:p@example.com/u",
            "https:///u", "https://example.com:99999/u",
        ])
    func foreignLocations(location: String) {
        let machine = Self.machine()
        #expect(!machine.informed(Self.created(location), sent: 0))
        #expect(machine.resource == nil)
        #expect(machine.lost(sent: 10) == nil)
    }

    @Test("B11.25: the resource's URL does not take over the password of the request's URL")
    func userInformation() {
        let machine = Machine(
            target: "https://u:p@example.com/a", length: 1, isDivisible: true, patience: Self.patience())
        _ = machine.informed(Self.created("/u"), sent: 0)
        #expect(machine.resource == "https://example.com/u")
    }

    @Test("B11.25: without a 104 a lost upload is not resumed, and other informational answers mean nothing")
    func ordinary() {
        let machine = Self.machine()
        for status in [100, 102, 103, 199] {
            var head = Self.created()
            head.status = status
            #expect(!machine.informed(head, sent: 0))
        }
        #expect(machine.isAnswer(Self.head(500)))
        #expect(machine.lost(sent: 50) == nil)
    }

    @Test("B11.25: further 104s tell offsets, and one that names another resource ends the upload")
    func furtherInformation() {
        let machine = Self.machine()
        #expect(!machine.informed(Self.created(), sent: 0))
        #expect(!machine.informed(Self.created(nil, version: "8", [("Upload-Offset", "40")]), sent: 50))
        #expect(!machine.informed(Self.created("/u/1"), sent: 50))
        #expect(machine.informed(Self.created("/u/2"), sent: 50))
        #expect(machine.lost(sent: 50) == .remove)
        #expect(machine.answered(Self.head(204), sent: 50) == .fail(.movedElsewhere))
    }

    // MARK: Going on

    @Test("B11.31, B11.32, B11.33: after a loss the offset is asked for, and the rest follows from there")
    func resumption() {
        let machine = Self.lost()
        #expect(machine.answered(Self.state("40"), sent: 60) == .append(offset: 40, count: 60, completes: true))
        #expect(machine.isAnswer(Self.head(200, [("Upload-Complete", "?1")])))
        #expect(machine.isAnswer(Self.head(201)))
        #expect(machine.lost(sent: 90) == .query(after: .seconds(1)))
        #expect(machine.answered(Self.state("90"), sent: 90) == .append(offset: 90, count: 10, completes: true))
        #expect(machine.lost(sent: 100) == .query(after: .seconds(1)))
        // All of it is there, but the server has not been told that it is complete.
        #expect(machine.answered(Self.state("100"), sent: 100) == .append(offset: 100, count: 0, completes: true))
    }

    @Test("B11.33: more than was sent, more than there is, or less than before cannot be")
    func impossibleOffsets() {
        var machine = Self.lost()
        #expect(machine.answered(Self.state("61"), sent: 60) == .remove)
        #expect(machine.lost(sent: 60) == .fail(.offsetTooLarge(61, sent: 60)))
        machine = Self.lost(sent: 100)
        #expect(machine.answered(Self.state("999999999999999"), sent: 100) == .remove)
        #expect(machine.answered(Self.head(500), sent: 100) == .fail(.offsetTooLarge(999_999_999_999_999, sent: 100)))
        machine = Self.lost()
        _ = machine.answered(Self.state("40"), sent: 60)
        _ = machine.lost(sent: 70)
        #expect(machine.answered(Self.state("39"), sent: 70) == .remove)
        #expect(machine.answered(Self.head(204), sent: 70) == .fail(.offsetDecreased(from: 40, to: 39)))
    }

    @Test(
        "B11.37: an offset in another form is unknown, and ends the upload",
        arguments: ["-1", "4.0", "\"4\"", "4, 5", "x", ""])
    func malformedOffsets(offset: String) {
        let machine = Self.lost()
        #expect(machine.answered(Self.state(offset), sent: 60) == .fail(.unknownOffset))
    }

    @Test("B11.37: an Upload-Complete in another form is ignored", arguments: ["1", "true", "?2", "\"?1\"", "?1, ?1"])
    func malformedCompleteness(complete: String) {
        let machine = Self.lost()
        let answer = Self.state("60", complete)
        #expect(!machine.isAnswer(answer))
        #expect(machine.answered(answer, sent: 60) == .append(offset: 60, count: 40, completes: true))
    }

    // MARK: Answers

    @Test(
        "B11.34: what says that the upload is complete is its answer, whatever its status",
        arguments: [200, 303, 404, 500])
    func finalAnswers(status: Int) {
        let machine = Self.lost()
        _ = machine.answered(Self.state("60"), sent: 60)
        #expect(machine.isAnswer(Self.head(status, [("Upload-Complete", "?1")])))
        #expect(!machine.isAnswer(Self.head(status, [("Upload-Complete", "?0")])))
    }

    @Test("B11.34: the answer to the question is the upload's if all of it had come")
    func completeMeanwhile() {
        let machine = Self.lost(sent: 100)
        #expect(machine.isAnswer(Self.state("100", "?1")))
        let early = Self.state("60", "?1")
        #expect(!machine.isAnswer(early))
        #expect(machine.answered(early, sent: 100) == .fail(.completeTooEarly(60, length: 100)))
    }

    @Test("B11.35: 4xx ends it; 404 and 410 mean that the resource is gone", arguments: [true, false])
    func refusals(appending: Bool) {
        for status in [301, 307, 400, 401, 403, 404, 405, 410, 413, 415] {
            let machine = Self.lost()
            if appending { _ = machine.answered(Self.state("50"), sent: 60) }
            let head = Self.head(status)
            #expect(!machine.isAnswer(head))
            let failure: UploadFailure =
                status == 404 || status == 410 ? .gone(status: status) : .refused(status: status)
            #expect(machine.answered(head, sent: 60) == .fail(failure))
        }
    }

    @Test(
        "B11.35: 307 and 308 lead to another resource of the origin, which is asked first, and not in a circle for ever",
        arguments: [307, 308], [true, false])
    func movedResources(status: Int, appending: Bool) {
        let machine = Self.lost()
        if appending { _ = machine.answered(Self.state("50"), sent: 60) }
        let first = appending ? 1 : 2
        #expect(
            machine.answered(Self.head(status, [("Location", "2?x")]), sent: 60) == .query(after: .seconds(first)))
        #expect(machine.resource == "https://example.com/u/2?x")
        for _ in first..<3 {
            #expect(
                machine.answered(Self.head(status, [("Location", "/u/1")]), sent: 60) != .fail(.refused(status: status))
            )
        }
        #expect(machine.resource == "https://example.com/u/1")
        #expect(
            machine.answered(Self.head(status, [("Location", "2")]), sent: 60) == .fail(.noProgress(attempts: 3)))
    }

    @Test("B11.35: a resource that leads to another origin ends the upload: that gets neither content nor secrets")
    func movedAway() {
        for location in ["https://evil.example/u", "http://example.com/u", "//example.com:444/u", ""] {
            let machine = Self.lost()
            #expect(
                machine.answered(Self.head(308, [("Location", location)]), sent: 60) == .fail(.refused(status: 308)))
            #expect(machine.resource == "https://example.com/u/1")
        }
    }

    @Test(
        "B11.35: 409 and 5xx lead to the question again, after ever longer pauses, and not for ever",
        arguments: [409, 500, 503])
    func askingAgain(status: Int) {
        let machine = Self.lost()
        _ = machine.answered(Self.state("50"), sent: 60)
        #expect(machine.answered(Self.head(status), sent: 60) == .query(after: .seconds(1)))
        #expect(machine.answered(Self.head(status), sent: 60) == .query(after: .seconds(2)))
        #expect(machine.answered(Self.head(status), sent: 60) == .query(after: .seconds(3)))
        #expect(machine.answered(Self.head(status), sent: 60) == .fail(.noProgress(attempts: 3)))
    }

    @Test("B11.35: attempts count anew once the server has more, and only then")
    func progress() {
        let machine = Self.machine(length: 1000)
        _ = machine.informed(Self.created(), sent: 0)
        for offset in stride(from: Int64(10), to: 200, by: 10) {
            #expect(machine.lost(sent: offset) == .query(after: .seconds(1)))
            #expect(
                machine.answered(Self.state("\(offset)"), sent: offset)
                    == .append(offset: offset, count: 1000 - offset, completes: true))
        }
        for pause in [1, 2, 3] {
            #expect(machine.lost(sent: 190) == .query(after: .seconds(pause)))
            #expect(
                machine.answered(Self.state("190"), sent: 190) == .append(offset: 190, count: 810, completes: true))
        }
        #expect(machine.lost(sent: 190) == .fail(.noProgress(attempts: 3)))
    }

    // MARK: Limits

    @Test("B11.36: parts are no larger than the server takes, and the last one completes")
    func parts() {
        let machine = Self.lost(sent: 20, limit: "max-append-size=30, max-age=60, other=\"x\"")
        #expect(machine.answered(Self.state("15"), sent: 20) == .append(offset: 15, count: 30, completes: false))
        let accepted = Self.head(204, [("Upload-Complete", "?0")])
        #expect(!machine.isAnswer(accepted))
        #expect(machine.answered(accepted, sent: 45) == .append(offset: 45, count: 30, completes: false))
        #expect(machine.answered(Self.state("70"), sent: 75) == .append(offset: 70, count: 30, completes: true))
        #expect(machine.answered(Self.head(204, [("Upload-Complete", "?0")]), sent: 100) == .query(after: .seconds(1)))
    }

    @Test(
        "B11.36: a body of a size that the server does not take is not sent",
        arguments: [("max-size=99", UploadFailure.tooLarge(limit: 99)), ("min-size=101", .tooSmall(limit: 101))])
    func sizes(limit: String, failure: UploadFailure) {
        var machine = Self.machine()
        #expect(machine.informed(Self.created("/u/1", [("Upload-Limit", limit)]), sent: 0))
        #expect(machine.lost(sent: 0) == .remove)
        #expect(machine.answered(Self.head(204), sent: 0) == .fail(failure))
        machine = Self.lost()
        let report = Self.head(204, [("Upload-Offset", "10"), ("Upload-Limit", limit)])
        #expect(machine.answered(report, sent: 60) == .remove)
    }

    @Test(
        "B11.36: parts that cannot be made", arguments: ["max-append-size=0", "max-append-size=10, min-append-size=20"])
    func impossibleParts(limit: String) {
        let machine = Self.lost(sent: 20, limit: limit)
        #expect(machine.answered(Self.state("15"), sent: 20) == .remove)
    }

    @Test("B11.36: an upload that would go byte by byte, or whose stream would have to be cut, is given up")
    func unreasonableParts() {
        let machine = Self.lost(sent: 20, length: 1 << 30, limit: "max-append-size=1")
        #expect(machine.answered(Self.state("15"), sent: 20) == .remove)
        let stream = Self.machine(length: nil, divisible: false)
        _ = stream.informed(Self.created("/u/1", [("Upload-Limit", "max-append-size=1000")]), sent: 0)
        _ = stream.lost(sent: 20)
        #expect(stream.answered(Self.state("15"), sent: 20) == .remove)
    }

    @Test(
        "B11.36, B11.37: limits in another form are ignored",
        arguments: [
            "max-size=1.5", "max-size=-1", "max-size=\"1\"", "max-size=(1)", "max-size", "max-size=1,", "MAX-SIZE=1",
        ])
    func malformedLimits(limit: String) {
        let machine = Self.machine()
        #expect(!machine.informed(Self.created("/u/1", [("Upload-Limit", limit)]), sent: 0))
    }

    @Test("B11.30: a stream is continued with everything behind the offset")
    func streams() {
        let stream = Self.machine(length: nil, divisible: false)
        _ = stream.informed(Self.created(), sent: 0)
        _ = stream.lost(sent: 20)
        #expect(stream.answered(Self.state("15"), sent: 20) == .append(offset: 15, count: nil, completes: true))
    }

    // MARK: Later

    @Test("B11.29: an upload that was begun before starts with the question, at its own origin only")
    func resumed() {
        let resumed = Machine(resuming: "https://example.com/u/1")
        let first = resumed?.begin()
        #expect(first == .query(after: .zero))
        let second = resumed?.answered(Self.state("70"), sent: 0)
        #expect(second == .append(offset: 70, count: 30, completes: true))
        for other in ["https://evil.example/u", "http://example.com/u", "file:///u", ""] {
            #expect(Machine(resuming: other) == nil)
        }
    }

    @Test("B11.35: pauses grow and end somewhere, whatever they begin with")
    func pauses() {
        var patience = ResumableUploadMachine.Patience()
        #expect(patience.delay(after: 0) == .zero)
        #expect(patience.delay(after: 1) == .milliseconds(500))
        #expect(patience.delay(after: 1_000_000) == .seconds(30))
        patience.firstDelay = .zero
        #expect(patience.delay(after: 1000) == .zero)
    }

    @Test(
        "B11.32: the fields that speak of the body stay with the first request",
        arguments: [
            ("Authorization", true), ("X-Token", true), ("Content-Type", false), ("content-disposition", false),
            ("If-Match", false), ("Expect", false), ("Upload-Complete", false), ("Accept", true),
        ])
    func keptFields(name: String, isKept: Bool) {
        #expect(UploadFields.isKept(name) == isKept)
    }
}
