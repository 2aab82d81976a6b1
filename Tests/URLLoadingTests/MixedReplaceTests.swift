// multipart/x-mixed-replace: a response for each part (B1.62).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer

@Suite("multipart/x-mixed-replace")
struct MixedReplaceTests {
    private static let body =
        "--frame\r\nContent-Type: image/jpeg\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\none\r\n"
        + "--frame\r\nContent-Type: text/html; charset=utf-8\r\n\r\ntwo\r\n--frame--\r\n"

    private static func mixed(_ pieces: [ServerResponse.Piece]) -> ServerResponse {
        ServerResponse.slow(pieces, framing: .chunked).adding(
            "Content-Type", "Multipart/X-Mixed-Replace; boundary=\"frame\"")
    }

    /// Notes what each response says.
    private static func seeing(_ seen: Guarded<[String]>, form: Scribe.Form) -> Scribe {
        Scribe { call, _, task in
            guard call == "response", let response = task.response as? HTTPURLResponse else { return }
            seen.change { $0.append("\(response.mimeType ?? "-") \(response.expectedContentLength)") }
        }
    }

    @Test(
        "B1.61, B1.62: each part is announced by a response that describes it, after the data of the part before",
        arguments: Scribe.Form.allCases)
    func parts(form: Scribe.Form) async throws {
        try await withServer(router: { _ in Self.mixed([.init(Self.body)]) }) { server in
            let seen = Guarded<[String]>([])
            let scribe = Self.seeing(seen, form: form)
            let session = URLSession(configuration: .default, delegate: scribe.delegate(form), delegateQueue: nil)
            let task = session.dataTask(with: try server.at("/"))
            task.resume()
            await scribe.transcript.completed.wait()
            #expect(
                scribe.transcript.calls == [
                    "created 1", "response 200", "response 200", "data", "response 200", "data", "metrics 1",
                    "complete nil",
                ])
            #expect(seen.value == ["multipart/x-mixed-replace -1", "image/jpeg 3", "text/html -1"])
            #expect(scribe.transcript.body == "onetwo")
            #expect(task.response?.textEncodingName == "utf-8")
            #expect(task.countOfBytesReceived == 6, "B1.51")
            session.invalidateAndCancel()
        }
    }

    @Test("B1.62: a part is delivered before the next is sent")
    func live() async throws {
        let gate = ServerGate()
        let first = "--frame\r\n\r\none\r\n--frame\r\n\r\n"
        try await withServer(router: { _ in Self.mixed([.init(first), .init("two\r\n--frame--", when: gate)]) }) {
            server in
            let scribe = Scribe { call, _, task in
                if call == "data", task.countOfBytesReceived == 3 { gate.open() }
            }
            let session = URLSession(configuration: .default, delegate: scribe.delegate(.handler), delegateQueue: nil)
            session.dataTask(with: try server.at("/")).resume()
            await scribe.transcript.completed.wait()
            #expect(scribe.transcript.body == "onetwo")
            session.invalidateAndCancel()
        }
    }

    @Test("B1.66: a part can be refused; a body that is no multipart is an error; a handler gets it as it is")
    func otherEnds() async throws {
        try await withServer(router: { request in
            request.path == "/broken"
                ? Self.mixed([.init("--frame\r\nbroken line\r\n\r\n")]) : Self.mixed([.init(Self.body)])
        }) { server in
            let responses = Signal()
            let delegate = RecordingDelegate(onResponse: { _, handler in
                responses.fire()
                handler(responses.count == 3 ? .cancel : .allow)
            })
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            session.dataTask(with: try server.at("/")).resume()
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.calls.suffix(2) == ["metrics 1", "complete -999"])
            #expect(delegate.transcript.body == "one")

            session.dataTask(with: try server.at("/broken")).resume()
            await delegate.transcript.completed.wait(times: 2)
            #expect(delegate.transcript.calls.last == "complete -1017")

            let (data, response) = try await session.data(from: try server.at("/"))
            #expect(String(decoding: data, as: UTF8.self) == Self.body)
            #expect(response.mimeType == "multipart/x-mixed-replace")
            session.invalidateAndCancel()
        }
    }

    @Test("A thousand small parts and a large one reach a slow delegate in order")
    func manyParts() async throws {
        let many = (0..<1000).map { "--frame\r\nX-Number: \($0)\r\n\r\n\($0)," }.joined(separator: "\r\n")
        let large = String(repeating: "x", count: 2_000_000)
        let body = many + "\r\n--frame\r\n\r\n" + large + "\r\n--frame--"
        try await withServer(router: { _ in Self.mixed([.init(body)]) }) { server in
            let scribe = Scribe()
            let session = URLSession(configuration: .default, delegate: scribe.delegate(.async), delegateQueue: nil)
            session.dataTask(with: try server.at("/")).resume()
            await scribe.transcript.completed.wait()
            #expect(scribe.transcript.calls.count { $0 == "response 200" } == 1002)
            #expect(scribe.transcript.body.hasPrefix((0..<1000).map { "\($0)," }.joined() + "xxx"))
            #expect(scribe.transcript.byteCount == (0..<1000).reduce(0) { $0 + "\($1),".count } + 2_000_000)
            session.invalidateAndCancel()
        }
    }
}
