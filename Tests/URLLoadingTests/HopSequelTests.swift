// What follows a hop: each rule of `HopSequel`, and which of two rules comes first.

import Foundation
import Testing
import URLLoadingEngine
import URLLoadingPolicy

@testable import URLLoading

@Suite("What follows a hop")
struct HopSequelTests {
    private static let first = URLRequest(url: URL(fileURLWithPath: "/first"))
    private static let next = URLRequest(url: URL(fileURLWithPath: "/next"))

    private static let loss = EngineError.connectionLost(nil, phase: .receivingBody, received: 0, expected: nil)

    /// A task whose hop has just ended.
    private static func state(_ change: (inout TaskState) -> Void = { _ in }) -> TaskState {
        var state = TaskState()
        _ = state.machine.resume()
        state.currentRequest = first
        change(&state)
        return state
    }

    private static func end(
        _ failure: EngineError? = nil, again: SecondSending? = nil, foreign: (any Error)? = nil
    ) -> HopEnd {
        HopEnd(failure: failure, url: first.url, body: nil, records: [], again: again, foreignError: foreign)
    }

    /// What follows, in a word: the path of the request that is sent, or the code of the error that the task ends with.
    private static func word(_ sequel: HopSequel) -> String {
        switch sequel {
        case .hop(let request, _): "hop \(request.url?.lastPathComponent ?? "")"
        case .otherRoute(let hop): "other route \(hop.hop.request.url?.lastPathComponent ?? "")"
        case .otherStream: "other stream"
        case .upload: "upload"
        case .retry(let pause): "retry after \(pause)"
        case .failed(let failed): "failed \(failed.error.code.rawValue)"
        case .end(nil): "end"
        case .end(let error as URLError): "end \(error.code.rawValue)"
        case .end(let error?): "end \(error)"
        }
    }

    @Test("B6.33: an attempt follows an answer that a policy does not take, unless the hop has failed")
    func retries() {
        #expect(Self.sequel { $0.retry.pause = .seconds(2) } == "retry after 2.0 seconds")
        let lost = Self.sequel(Self.end(Self.loss)) { $0.retry.pause = .seconds(2) }
        #expect(lost == "end \(URLError.Code.networkConnectionLost.rawValue)")
    }

    private static func sequel(
        _ end: HopEnd = end(), _ change: (inout TaskState) -> Void = { _ in }
    ) -> String {
        var state = state(change)
        return word(state.sequel(of: end, error: end.failure.map { _ in URLError(.networkConnectionLost) }, sent: nil))
    }

    @Test("B17.54: a cancellation comes before every other rule")
    func cancellation() {
        let end = Self.end(Self.loss, again: SecondSending(), foreign: URLError(.badURL))
        let sequel = Self.sequel(end) { state in
            _ = state.machine.cancel()
            state.ownFailure = URLError(.httpTooManyRedirects)
            state.redirect.next = Self.next
        }
        #expect(sequel == "end \(URLError.Code.cancelled.rawValue)")
    }

    @Test("The task's own failure comes before the error of the hop, and a carrier's error before the engine's")
    func failures() {
        let end = Self.end(.cancelled, foreign: URLError(.badURL))
        let own = Self.sequel(end) { $0.ownFailure = URLError(.httpTooManyRedirects) }
        #expect(own == "end \(URLError.Code.httpTooManyRedirects.rawValue)")
        #expect(Self.sequel(end) == "end \(URLError.Code.badURL.rawValue)")
        #expect(Self.sequel(Self.end(Self.loss)) == "end \(URLError.Code.networkConnectionLost.rawValue)")
    }

    @Test("A redirect is not followed where its hop has failed")
    func failedRedirect() {
        let sequel = Self.sequel(Self.end(Self.loss)) { $0.redirect.next = Self.next }
        #expect(sequel == "end \(URLError.Code.networkConnectionLost.rawValue)")
    }

    @Test("A hop whose route has led nowhere is sent by another route, once")
    func otherRoute() {
        var state = Self.state { $0.reroutable = ReroutableHop(Hop(request: Self.first, body: .request)) }
        let sequels = (0..<2).map { _ in
            Self.word(
                state.sequel(of: Self.end(.connect(host: "a", [])), error: URLError(.cannotConnectToHost), sent: nil))
        }
        #expect(sequels == ["other route first", "end \(URLError.Code.cannotConnectToHost.rawValue)"])
    }

    @Test("B11.8, B11.12: after a lost sending another stream is asked for, and sent bytes are counted anew")
    func otherStream() {
        var state = Self.state { $0.sentTold = 7 }
        let end = Self.end(Self.loss, again: SecondSending(needsNewConnection: true))
        let error = URLError(.networkConnectionLost)
        #expect(Self.word(state.sequel(of: end, error: error, sent: nil)) == "other stream")
        #expect(state.sentTold == 0)
        #expect(state.lostSending?.error == error)
        #expect(state.lostSending?.again.needsNewConnection == true)
    }

    @Test("B4.11: a redirect leads to a request like any other, with or without the body", arguments: [true, false])
    func redirect(dropsBody: Bool) {
        var state = Self.state { state in
            state.body = .data(Data("abc".utf8))
            state.sentTold = 3
            state.redirect = RedirectProgress(count: 4, next: Self.next, deliversBody: false, dropsBody: dropsBody)
        }
        guard case .hop(let request, let body) = state.sequel(of: Self.end(), error: nil, sent: nil) else {
            Issue.record("no hop follows")
            return
        }
        #expect(request == Self.next && state.currentRequest == Self.next)
        if case .data = body { #expect(!dropsBody) } else { #expect(dropsBody) }
        #expect(state.redirect.count == 5 && state.redirect.next == nil && state.redirect.deliversBody == nil)
        #expect(state.sentTold == 0)
    }

    @Test(
        "A request that goes out again with a proof, without conditions or from the beginning comes before a redirect")
    func again() {
        let proven = Self.sequel { state in
            state.authentication.goesAgain = true
            state.redirect.next = Self.next
        }
        let unconditional = Self.sequel { state in
            state.omitsConditions = true
            state.redirect.next = Self.next
        }
        let whole = Self.sequel { state in
            state.download = DownloadProgress()
            state.download?.startsOver = true
            state.redirect.next = Self.next
        }
        #expect([proven, unconditional, whole] == ["hop first", "hop first", "hop first"])
    }

    @Test(
        "B4.3: a redirect that was refused is the task's answer, and the end follows, also while the task is suspended")
    func refusedWhileSuspended() {
        var state = Self.state { state in
            _ = state.machine.suspend()
            state.redirect.deliversBody = true
        }
        #expect(Self.word(state.sequel(of: Self.end(), error: nil, sent: nil)) == "end")
        #expect(state.machine.phase == .suspended)
    }
}
