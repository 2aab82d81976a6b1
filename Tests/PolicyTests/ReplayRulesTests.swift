// When a lost request is sent again: every combination of the facts against the statements.

import Testing
import URLLoadingPolicy

@Suite struct ReplayRulesTests {
    static let idempotent = ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"]
    static let others = ["POST", "PATCH", "CONNECT", "get", "PROPFIND", ""]

    private func verdict(
        _ method: String, reused: Bool = true, written: Bool = true, response: Bool = false, replayable: Bool = true,
        attempt: Int = 1
    ) -> ReplayVerdict {
        ReplayRules.verdict(
            method: method, reusedConnection: reused, bytesWritten: written, responseBytes: response,
            bodyReplayable: replayable, attempt: attempt)
    }

    @Test("B6.26: an idempotent request on a reused connection is sent again, once", arguments: idempotent)
    func idempotentIsReplayedOnce(method: String) {
        #expect(verdict(method) == .replay)
        #expect(verdict(method, attempt: 2) == .fail)
        #expect(verdict(method, attempt: Int.max) == .fail)
    }

    @Test(
        "B6.26, B11.8: a consumed stream is sent again only if it is supplied anew, where the rest allows it",
        arguments: idempotent + others)
    func consumedStream(method: String) {
        #expect(verdict(method, replayable: false) == (verdict(method) == .replay ? .replayWithNewBody : .fail))
        #expect(verdict(method, written: false, replayable: false) == .replayWithNewBody)
        #expect(verdict(method, replayable: false, attempt: 2) == .fail)
        #expect(verdict(method, response: true, replayable: false) == .fail)
        #expect(verdict(method, reused: false, replayable: false) == .fail)
    }

    @Test("B6.27: a request that may not be done twice fails once a byte of it was sent", arguments: others)
    func notIdempotent(method: String) {
        #expect(verdict(method) == .fail)
    }

    @Test("B6.27: on a connection known to be dead before writing any method goes on", arguments: idempotent + others)
    func nothingWritten(method: String) {
        #expect(verdict(method, written: false) == .replay)
        #expect(verdict(method, written: false, attempt: 3) == .replay)
    }

    @Test("B6.28: a fresh connection that dies is not retried", arguments: idempotent + others)
    func freshConnection(method: String) {
        for written in [true, false] { #expect(verdict(method, reused: false, written: written) == .fail) }
    }

    @Test("B6.29: no retry once response bytes have come", arguments: idempotent + others)
    func responseBytes(method: String) {
        for written in [true, false] { #expect(verdict(method, written: written, response: true) == .fail) }
    }

    @Test("B6.31: 408 with Connection: close on a reused connection counts as a dead one for idempotent requests")
    func timeoutNotice() {
        func verdict(
            _ method: String = "GET", status: Int = 408, closes: Bool = true, reused: Bool = true,
            replayable: Bool = true, attempt: Int = 1
        ) -> ReplayVerdict {
            ReplayRules.verdictAboutTimeout(
                status: status, closesConnection: closes, method: method, reusedConnection: reused,
                bodyReplayable: replayable, attempt: attempt)
        }
        #expect(verdict() == .replay)
        #expect(verdict(status: 500) == .fail)
        #expect(verdict(closes: false) == .fail)
        #expect(verdict(reused: false) == .fail)
        #expect(verdict("POST") == .fail)
        #expect(verdict(replayable: false) == .replayWithNewBody, "not a replay: it is the answer")
        #expect(verdict(attempt: 2) == .fail)
    }
}
