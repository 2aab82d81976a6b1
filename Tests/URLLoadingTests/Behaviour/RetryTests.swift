// Behaviour 6.21 and 6.26 to 6.32, seen by a program: what is sent twice, and what never is.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer

@Suite("Sending again")
struct RetryTests {
    /// Loads something, then `method` on the same connection, on which the server plays `steps` in place of an answer.
    private func second(
        _ method: String, meets steps: [ScriptStep], body: String? = nil
    ) async throws -> (load: Load, requests: Int, connections: Int) {
        let path = method == "POST" || method == "PATCH" ? "/post" : "/get"
        return try await withServer(
            router: { request in
                if request.path == "/first" { return .text("first") }
                return request.connection == 1 ? .script(steps) : .text("again")
            }
        ) { server in
            let session = URLSession.made()
            let first = try await Load(server.at("/first"), in: session)
            #expect(first.text == "first")
            let load = try await Load(URLRequest(method, server.at(path), body: body), in: session)
            return (load, server.stats.requests, server.stats.connectionsAccepted)
        }
    }

    @Test(
        "B6.26: on a reused connection that dies an idempotent request is sent once more, on a new connection",
        arguments: ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"])
    func idempotent(method: String) async throws {
        for step in [ScriptStep.close, .reset, .drop] {
            let (load, requests, connections) = try await second(
                method, meets: [step], body: method == "PUT" ? "body" : nil)
            #expect(load.error == nil && load.status == 200)
            #expect(load.text == (method == "HEAD" ? "" : "again"))
            #expect(requests == 3 && connections == 2)
        }
    }

    @Test("B6.27: a request that is not idempotent is not sent again", arguments: ["POST", "PATCH", "LOCK", "get"])
    func notIdempotent(method: String) async throws {
        for step in [ScriptStep.close, .reset] {
            let (load, requests, connections) = try await second(method, meets: [step], body: nil)
            if method == "get" {
                // B5.2: GET is upper-cased, and so is idempotent.
                #expect(load.text == "again")
            } else {
                #expect(load.code == .networkConnectionLost && requests == 2 && connections == 1)
            }
        }
    }

    @Test("B6.28: a request on a fresh connection that dies is not sent again")
    func fresh() async throws {
        for step in [ScriptStep.close, .reset] {
            try await withServer(router: { _ in .script([step]) }) { server in
                let load = try await Load(server.at())
                #expect(load.code == .networkConnectionLost)
                #expect(server.stats.connectionsAccepted == 1)
            }
        }
    }

    @Test("B6.29: nothing is sent again once a byte of the response has come", .http1Only("The text of HTTP/1.1"))
    func begun() async throws {
        for text in ["H", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 100 Continue\r\n\r\n"] {
            let (load, requests, _) = try await second("GET", meets: [.text(text), .close])
            #expect(load.code == .networkConnectionLost && requests == 2)
        }
    }

    @Test("B6.30: a second sending is a transaction of its own in the metrics, and nothing else tells of it")
    func metrics() async throws {
        try await withServer(
            router: { request in
                if request.path == "/first" { return .text("first") }
                return request.connection == 1 ? .script([.close]) : .text("again")
            }
        ) { server in
            let notebook = Notebook()
            let session = URLSession(configuration: .ephemeral, delegate: notebook, delegateQueue: nil)
            try session.dataTask(with: server.at("/first")).resume()
            await notebook.ended.wait()
            try session.dataTask(with: server.at("/second")).resume()
            await notebook.ended.wait(times: 2)
            #expect(notebook.error == nil)
            let once: [Call] = [.response, .data, .metrics, .completed]
            #expect(notebook.calls == once + once)
            let transactions = notebook.metrics?.transactionMetrics ?? []
            #expect(transactions.map(\.isReusedConnection) == [true, false])
            #expect(transactions.map { $0.response == nil } == [true, false])
            #expect(notebook.metrics?.redirectCount == 0)
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B6.31: 408 with close on an idle connection counts as its death for idempotent requests only",
        .http1Only("A connection of HTTP/2 is ended by GOAWAY"))
    func requestTimeout() async throws {
        let answer = ScriptStep.lines("HTTP/1.1 408 X\nConnection: close\nContent-Length: 0\n\n")
        let (get, requests, _) = try await second("GET", meets: [answer, .close])
        #expect(get.text == "again" && requests == 3)
        let (post, _, connections) = try await second("POST", meets: [answer, .close], body: "x")
        #expect(post.status == 408 && connections == 1)
    }

    @Test(
        "B6.32, B17.6: errors of servers are answers, and nothing is tried again", arguments: [404, 429, 500, 503, 599])
    func serverErrors(status: Int) async throws {
        try await withServer(
            router: { _ in ServerResponse.text("busy", status: status).adding("Retry-After", "0") }
        ) { server in
            let load = try await Load(server.at())
            #expect(load.error == nil && load.status == status && load.text == "busy")
            #expect(server.stats.requests == 1)
        }
    }

    @Test("B6.21, B17.30: networks are neither cellular, expensive nor constrained: refusing those refuses nothing")
    func constraints() async throws {
        try await withServer(router: { _ in .text("x") }) { server in
            let session = URLSession.made {
                $0.allowsCellularAccess = false
                $0.allowsExpensiveNetworkAccess = false
                $0.allowsConstrainedNetworkAccess = false
            }
            var request = try URLRequest(url: server.at())
            request.allowsCellularAccess = false
            request.allowsExpensiveNetworkAccess = false
            request.allowsConstrainedNetworkAccess = false
            let load = await Load(request, in: session)
            #expect(load.text == "x")
        }
    }
}
