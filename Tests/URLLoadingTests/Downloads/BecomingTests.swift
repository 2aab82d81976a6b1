// Data tasks that become downloads: whole lists of calls (B1.68, B1.69, B9.14).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer

@Suite("Data tasks that become downloads")
struct BecomingTests {
    @Test("B1.68, B1.69, B9.14: the download goes on from the first byte; the data task tells nothing more")
    func becomes() async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            let scribe = ResumptionScribe(.becomeDownload)
            let session = session(of: scribe)
            session.dataTask(with: try server.at("/")).resume()
            await scribe.transcript.completed.wait()
            #expect(
                scribe.transcript.calls == [
                    "created 1", "response 200", "became 1", "wrote 5, 5 of 5", "finished hello", "complete nil",
                ])
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B1.68: a response with an empty body, and one with an error status, become downloads too",
        arguments: [200, 404])
    func others(status: Int) async throws {
        try await withServer(router: { _ in status == 200 ? .status(200) : .text("nothing", status: 404) }) { server in
            let scribe = ResumptionScribe(.becomeDownload)
            let session = session(of: scribe)
            session.dataTask(with: try server.at("/")).resume()
            await scribe.transcript.completed.wait()
            #expect(scribe.transcript.calls.prefix(3) == ["created 1", "response \(status)", "became 1"])
            #expect(
                scribe.transcript.calls.suffix(2) == ["finished \(status == 200 ? "" : "nothing")", "complete nil"])
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B1.68, B9.14: a multipart/x-mixed-replace response that becomes a download is saved as it comes, parts and all",
        arguments: ["--frame\r\nContent-Type: image/jpeg\r\n\r\none\r\n--frame\r\n\r\ntwo\r\n--frame--\r\n", ""])
    func mixed(body: String) async throws {
        let router: LoopbackServer.Router = { _ in
            ServerResponse.slow([.init(body)], framing: .chunked).adding(
                "Content-Type", "multipart/x-mixed-replace; boundary=frame")
        }
        try await withServer(router: router) { server in
            let scribe = ResumptionScribe(.becomeDownload)
            let session = session(of: scribe)
            session.dataTask(with: try server.at("/")).resume()
            await scribe.transcript.completed.wait()
            #expect(scribe.transcript.calls.prefix(3) == ["created 1", "response 200", "became 1"])
            #expect(scribe.transcript.calls.suffix(2) == ["finished \(body)", "complete nil"])
            session.invalidateAndCancel()
        }
    }

    @Test("B1.68: the response of a data URL becomes a download too")
    func data() async throws {
        let scribe = ResumptionScribe(.becomeDownload)
        let session = session(of: scribe)
        session.dataTask(with: try #require(URL(string: "data:text/plain,hello"))).resume()
        await scribe.transcript.completed.wait()
        #expect(scribe.transcript.calls.first == "created 1")
        #expect(scribe.transcript.calls.contains("became 1"))
        #expect(scribe.transcript.calls.suffix(2) == ["finished hello", "complete nil"])
        session.invalidateAndCancel()
    }

    @Test("B1.68, B9.16: such a download can be cancelled for resume data, and goes on")
    func listedAndCancelled() async throws {
        let half = HalfServer()
        try await withServer(router: half.router) { server in
            let scribe = ResumptionScribe(
                .becomeDownload,
                onWrite: { task, transcript in
                    task.cancel(byProducingResumeData: { transcript.note($0 == nil ? "no data" : "data") })
                })
            let session = session(of: scribe)
            let task = session.dataTask(with: try server.at("/"))
            task.resume()
            await scribe.transcript.completed.wait()
            #expect(
                scribe.transcript.calls == [
                    "created 1", "response 200", "became 1", "wrote 5, 5 of 10", "data", "complete -999",
                ])
            let data = try #require(scribe.error.value?.downloadTaskResumeData)
            #expect(await goOn(with: data).transcript.calls.contains("finished helloworld"))
            session.invalidateAndCancel()
        }
    }

    @Test("B1.68: a hit in the cache becomes a download too")
    func stored() async throws {
        let count = Guarded(0)
        let router: LoopbackServer.Router = { _ in
            count.change { $0 += 1 }
            return .text("kept").adding("Cache-Control", "max-age=1000")
        }
        try await withServer(router: router) { server in
            let scribe = ResumptionScribe(.becomeDownload)
            let session = session(of: scribe)
            // Stored by a load whose body is delivered.
            _ = try await session.data(from: try server.at("/"))
            session.dataTask(with: try server.at("/")).resume()
            await scribe.transcript.completed.wait()
            #expect(
                scribe.transcript.calls.suffix(5) == [
                    "response 200", "became 2", "wrote 4, 4 of 4", "finished kept", "complete nil",
                ])
            #expect(count.value == 1)
            session.invalidateAndCancel()
        }
    }

    @Test("A large body is written to a file, and kept neither in memory nor in the cache")
    func large() async throws {
        try await withServer(router: { _ in .generated(length: 20_000_003).adding("Cache-Control", "max-age=1000") }) {
            server in
            let scribe = ResumptionScribe(.becomeDownload)
            let session = session(of: scribe)
            let task = session.dataTask(with: try server.at("/"))
            task.resume()
            await scribe.transcript.completed.wait()
            #expect(scribe.transcript.calls.last == "complete nil")
            #expect(task.countOfBytesReceived == 20_000_003)
            #expect(scribe.transcript.byteCount == 0)
            session.invalidateAndCancel()
        }
    }
}
