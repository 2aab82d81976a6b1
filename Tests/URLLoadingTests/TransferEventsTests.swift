// `events(for:)`: a task's course as a sequence.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Events of a task")
struct TransferEventsTests {
    /// Events as lines; pieces of a body in a row are one, and so are reports of progress.
    private func transcript(_ events: URLSession.TransferEvents) async -> [String] {
        var lines: [String] = []
        func note(_ line: String) { if lines.last != line || line == "end nil" { lines.append(line) } }
        for await event in events {
            switch event {
            case .informational(let response): note("informational \(response.statusCode)")
            case .redirect(let response, let request):
                note("redirect \(response.statusCode) \(request.url?.path ?? "")")
            case .response(let response): note("response \((response as? HTTPURLResponse)?.statusCode ?? 0)")
            case .retry(let failure, _): note("retry \(failure.retries)")
            case .progress: break
            case .body(let piece): note(piece.isEmpty ? "empty" : "body")
            case .metrics(let metrics): note("metrics \(metrics.transactionMetrics.count)")
            case .end(let error): note("end \(Transcript.text(error))")
            }
        }
        return lines
    }

    @Test("Events come in order: redirect, response, body, metrics, end", arguments: [true, false])
    func order(hasDelegate: Bool) async throws {
        let router: LoopbackServer.Router = { request in
            request.path == "/from"
                ? ServerResponse.status(302).adding("Location", "/to") : .generated(length: 500_000)
        }
        try await withServer(router: router) { server in
            let delegate = RecordingDelegate()
            let session = URLSession(
                configuration: .default, delegate: hasDelegate ? delegate : nil, delegateQueue: nil)
            let events = session.events(for: URLRequest(url: try server.at("/from")))
            #expect(
                await transcript(events) == ["redirect 302 /to", "response 200", "body", "metrics 2", "end nil"])
            #expect(events.task.state == .completed)
            if hasDelegate {
                #expect(delegate.transcript.calls == ["created 1", "redirect 302 GET /to", "metrics 2"])
            }
            session.invalidateAndCancel()
        }
    }

    @Test("Informational responses come before the response")
    func informational() async throws {
        let answer: [ScriptStep] = [
            .lines("HTTP/1.1 103 Early Hints\nLink: </a>\n\nHTTP/1.1 200 OK\nContent-Length: 2\n\n"), .text("ok"),
        ]
        try await withServer(router: { _ in .script(answer) }) { server in
            let events = URLSession(configuration: .default).events(for: URLRequest(url: try server.at("/")))
            #expect(
                await transcript(events) == ["informational 103", "response 200", "body", "metrics 1", "end nil"])
        }
    }

    @Test("Progress counts what was sent and received, never backwards, up to the whole")
    func progress() async throws {
        try await withServer(router: { .echo($0) }) { server in
            var request = URLRequest(url: try server.at("/"))
            request.httpMethod = "POST"
            request.httpBody = Data(repeating: 7, count: 400_000)
            var last = URLSession.TransferProgress(
                bytesSent: 0, bytesExpectedToSend: 400_000, bytesReceived: 0, bytesExpectedToReceive: 0)
            var isMonotonic = true
            var received = Data()
            for await event in URLSession(configuration: .default).events(for: request) {
                if case .progress(let progress) = event {
                    if progress.bytesSent < last.bytesSent || progress.bytesReceived < last.bytesReceived {
                        isMonotonic = false
                    }
                    last = progress
                }
                if case .body(let piece) = event { received.append(piece) }
            }
            #expect(isMonotonic)
            #expect(last.bytesSent == 400_000)
            #expect(last.bytesExpectedToSend == 400_000)
            #expect(last.bytesReceived == 400_000)
            #expect(received == request.httpBody)
        }
    }

    @Test("A body that breaks off ends the events with its error, after the bytes before it")
    func brokenBody() async throws {
        let answer: [ScriptStep] = [.lines("HTTP/1.1 200 OK\nContent-Length: 10\n\n"), .text("12345"), .close]
        try await withServer(router: { _ in .script(answer) }) { server in
            let events = URLSession(configuration: .default).events(for: URLRequest(url: try server.at("/")))
            #expect(await transcript(events) == ["response 200", "body", "metrics 1", "end -1005"])
        }
    }

    @Test("A task that is cancelled before it starts ends without metrics; no request goes out")
    func cancelledBefore() async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            let events = URLSession(configuration: .default).events(for: URLRequest(url: try server.at("/")))
            events.task.cancel()
            #expect(await transcript(events) == ["end -999"])
            #expect(server.stats.connectionsAccepted == 0)
        }
    }

    @Test("Cancelling the Swift task cancels the transfer and ends the sequence")
    func cancelledSwiftTask() async throws {
        let gate = ServerGate()
        let started = Signal()
        try await withServer(router: { _ in .slow([.init("1"), .init("2", when: gate)]) }) { server in
            let events = URLSession(configuration: .default).events(for: URLRequest(url: try server.at("/")))
            let load = Task {
                var last: URLSession.TransferEvent?
                for await event in events {
                    if case .body = event { started.fire() }
                    last = event
                }
                return last
            }
            await started.wait()
            load.cancel()
            let last = await load.value
            guard case .end(let error) = last else {
                Issue.record("the last event is \(String(describing: last))")
                return
            }
            #expect((error as? URLError)?.code == .cancelled)
            await server.wait { $0.givenUp == 1 }
            gate.open()
        }
    }

    @Test("Ending the iteration early cancels the transfer")
    func leftEarly() async throws {
        try await withServer(router: { _ in .generated(length: 50_000_000) }) { server in
            let events = URLSession(configuration: .default).events(for: URLRequest(url: try server.at("/")))
            for await event in events {
                if case .response = event { break }
            }
            await server.wait { $0.givenUp == 1 }
            try await until { events.task.state == .completed }
            #expect((events.task.error as? URLError)?.code == .cancelled)
        }
    }

    @Test("Back-pressure: the server stops sending while no events are asked for")
    func backPressure() async throws {
        try await withServer(router: { _ in .generated(length: 50_000_000) }) { server in
            let events = URLSession(configuration: .default).events(for: URLRequest(url: try server.at("/")))
            var iterator = events.makeAsyncIterator()
            guard case .response = await iterator.next() else {
                Issue.record("no response")
                return
            }
            await server.wait { $0.blockedWriters > 0 }
            #expect(events.task.countOfBytesReceived < 8_000_000)
            var count = 0
            while let event = await iterator.next() {
                if case .body(let piece) = event { count += piece.count }
            }
            #expect(count == 50_000_000)
        }
    }
}
