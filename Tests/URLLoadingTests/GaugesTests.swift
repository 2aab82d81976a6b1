// The numbers that a session tells about itself.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Gauges", .endsSessions, .timeLimit(.minutes(2)))
struct GaugesTests {
    @Test("B12.27: a new session's gauges are all zero; a task that was not resumed is unfinished")
    func nothing() async {
        let session = URLSession.made()
        #expect(await session.gauges() == URLSession.Gauges())
        let task = session.dataTask(with: URLRequest(url: URL(filePath: "/tmp")))
        #expect(await session.gauges().unfinishedTasks == 1)
        task.cancel()
    }

    @Test(
        "B12.27, B16.1: busy connections and requests that wait for one are counted while a load runs and afterwards",
        .http1Only("counts connections"))
    func busy() async throws {
        let gate = ServerGate()
        try await withServer(router: { _ in
            .script([.wait(gate), .lines("HTTP/1.1 200 OK\nContent-Length: 4\n\ngood")])
        }) { server async throws in
            let session = URLSession.made { $0.httpMaximumConnectionsPerHost = 2 }
            let url = try server.at("/a")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<5 { group.addTask { _ = try await session.data(from: url) } }
                await server.wait { $0.requests == 2 }
                var gauges = await session.gauges()
                // It is not known when each of the Swift tasks begins.
                while gauges.waitingRequests < 3 { gauges = await session.gauges() }
                #expect(gauges.busyConnections == 2 && gauges.idleConnections == 0 && gauges.unfinishedTasks == 5)
                #expect(gauges.totalRequests == 2 && gauges.totalConnections == 2 && gauges.totalReuses == 0)
                #expect(gauges.totalBytesReceived == 0)
                gate.open()
                try await group.waitForAll()
            }
            let gauges = await session.gauges()
            #expect(gauges.waitingRequests == 0 && gauges.busyConnections == 0 && gauges.idleConnections == 2)
            #expect(gauges.unfinishedTasks == 0 && gauges.totalRequests == 5 && gauges.totalReuses == 3)
            #expect(
                gauges.totalBytesReceived == 5 * Int64("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood".utf8.count))
            #expect(gauges.totalBytesSent > 5 * 20)
        }
    }

    @Test("B12.27: the bytes of bodies count, in both directions")
    func bytes() async throws {
        try await withServer(router: { .echo($0) }) { server async throws in
            let session = URLSession.made()
            var request = URLRequest(url: try server.at("/a"))
            request.httpMethod = "PUT"
            _ = try await session.upload(for: request, from: Data(count: 100_000))
            let gauges = await session.gauges()
            #expect((100_000..<102_000).contains(gauges.totalBytesSent))
            #expect((100_000..<102_000).contains(gauges.totalBytesReceived))
        }
    }

    @Test("B12.27: readings come at once and then again, and end with the session; its totals stay readable")
    func readings() async throws {
        try await withServer(router: { _ in .text("good") }) { server async throws in
            let session = URLSession.made()
            _ = try await Load(server.at("/a"), in: session)
            var (count, last) = (0, URLSession.Gauges())
            for await gauges in session.gauges(every: 0) {
                (count, last) = (count + 1, gauges)
                if count == 3 { session.invalidateAndCancel() }
            }
            #expect(count >= 4 && last.totalRequests == 1)
            var again = session.gauges(every: .nan).makeAsyncIterator()
            #expect(await again.next()?.totalRequests == 1)
            #expect(await again.next() == nil)
        }
    }

    @Test("B12.27: a cancelled task gets no more readings")
    func cancelled() async {
        let session = URLSession.made()
        let first = Signal()
        let reading = Task {
            var count = 0
            for await _ in session.gauges(every: .infinity) {
                count += 1
                first.fire()
            }
            return count
        }
        await first.wait()
        reading.cancel()
        #expect(await reading.value == 1)
    }
}
