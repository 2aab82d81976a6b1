// Servers that do what no server should: a load ends, rightly, and the program and its other loads go on.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Hostile servers")
struct HostileServerTests {
    @Test("B11.20: an endless row of informational responses ends with −1011 or −1017, after few of them")
    func informationalFlood() async throws {
        let one = "HTTP/1.1 103 X\r\nLink: </x>\r\n\r\n"
        let seen = try await see(raw: String(repeating: one, count: 20_000), then: [.waitForClose])
        #expect(seen.code == .badServerResponse || seen.code == .cannotParseResponse)
        // A reasonable number is nothing to complain about.
        // H9.6: over HTTP/2 there may be 32.
        let count = ProtocolUnderTest.isHTTP2 ? 32 : 50
        let few = try await see(raw: String(repeating: one, count: count) + "HTTP/1.1 204 X\r\n\r\n")
        #expect(few == .answer(204))
    }

    @Test("A body in chunks of one byte, and an answer that comes byte by byte, arrive whole")
    func crumbs() async throws {
        let count = 20_000
        let chunked = "\(ok)Transfer-Encoding: chunked\n\n" + String(repeating: "1\nx\n", count: count) + "0\n\n"
        #expect(try await see(chunked) == .answer(200, String(repeating: "x", count: count)))
        let text = Array(
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Long: \(String(repeating: "y", count: 500))\r\n\r\nhello".utf8)
        #expect(try await see([.sendOneByteAtATime(text)]) == .answer(200, "hello"))
    }

    @Test(
        "Odd Keep-Alive fields do no harm",
        arguments: [
            "timeout=0", "timeout=-1", "timeout=99999999999999999999", "timeout=", "timeout", "=", ",,,", "max=0",
            "timeout=9223372036854775807", "timeout=1.5", "timeout=\"5\", max=x", "max=1, timeout=5;x",
        ])
    func keepAlive(value: String) async throws {
        let seen = try await see("\(ok)Keep-Alive: \(value)\nContent-Length: 2\n\nok")
        #expect(seen.status == 200 && seen.body == "ok")
    }

    @Test("A program can ask a response for odd fields in every way")
    func fieldGetters() async throws {
        let values = [
            "", ";", ";;;;", "charset=", "text/html; charset=\"", "text/html; charset=\"\\", "a/b; =x; charset",
            "attachment; filename=\"../../etc/passwd\"", "attachment; filename=..", "attachment; filename=/",
            "attachment; filename*=UTF-8''%", "attachment; filename*=UTF-8''%zz%2e%2e%2f", "attachment; filename*=''",
            "attachment; filename*=nonsense'x'%ff%fe", "attachment; filename=\"a\\\"b\"; filename=c",
            String(repeating: "x;", count: 20_000), "\u{FF}\u{FE}", "=?utf-8?b?Li4vLi4v?=", "a\tb", "\"", "'", "%",
        ]
        for value in values {
            for name in ["Content-Type", "Content-Disposition", "Content-Range", "Last-Modified", "Content-Language"] {
                let response = try #require(
                    HTTPURLResponse(
                        url: URL(fileURLWithPath: "/"), statusCode: 200, httpVersion: "HTTP/1.1",
                        headerFields: [name: value]))
                touch(response)
            }
            let text = "\(ok)Content-Type: \(value)\nContent-Disposition: \(value)\nContent-Length: 0\n\n"
            try await withServer(router: { _ in .script([.lines(text)]) }) { server in
                let (_, response) = try await URLSession.made().data(from: server.at("/%2e%2e/..%2f"))
                touch(response)
                let name = try #require(response.suggestedFilename)
                #expect(!name.contains("/") && name != ".." && name != "." && !name.isEmpty, "\(name)")
            }
        }
    }

    private func touch(_ response: URLResponse) {
        _ = (response.mimeType, response.textEncodingName, response.suggestedFilename, response.expectedContentLength)
        _ = (response.description, response.hash, response.isEqual(response), response.url)
        _ = (response as? HTTPURLResponse)?.allHeaderFields
        let copy = try? NSKeyedArchiver.archivedData(withRootObject: response, requiringSecureCoding: true)
        #expect(copy?.isEmpty == false)
    }

    @Test(
        "A redirect is followed although its own body is cut off, corrupt or without end",
        arguments: [
            "Content-Length: 100\n\n", "Content-Length: 100\n\nshort", "Transfer-Encoding: chunked\n\n",
            "Transfer-Encoding: chunked\n\n5\nhello\n",
            "Content-Encoding: gzip\nContent-Length: 8\n\nno gzip!", "Transfer-Encoding: chunked\n\nnonsense\n",
            "\nto the close",
        ])
    func brokenRedirect(rest: String) async throws {
        try await withServer(router: { request in
            request.path == "/"
                ? .script([.lines("HTTP/1.1 302 Found\nLocation: /end\n\(rest)"), .close]) : .text("end")
        }) { server in
            let load = try await Load(server.at())
            #expect(load.text == "end" && load.status == 200, "\(load.message)")
            // The redirect is followed too where a delegate is asked about it, which takes time.
            let notebook = Notebook()
            let session = URLSession(configuration: .ephemeral, delegate: notebook, delegateQueue: nil)
            try session.dataTask(with: server.at()).resume()
            await notebook.ended.wait()
            #expect(notebook.error == nil, "\(String(describing: notebook.error))")
            #expect(notebook.calls == [.redirect, .response, .data, .metrics, .completed])
            session.invalidateAndCancel()
        }
    }

    @Test("A redirect whose body does not come is followed at once (B4.33)")
    func stalledRedirect() async throws {
        try await withServer(router: { request in
            request.path == "/"
                ? .script([.lines("HTTP/1.1 302 Found\nLocation: /end\nContent-Length: 5\n\n"), .waitForClose])
                : .text("end")
        }) { server in
            let load = try await Load(server.at())
            #expect(load.text == "end", "\(load.message)")
        }
    }

    @Test(
        "A redirect with an endless body is followed, and the connection closed (B4.33)",
        .http1Only("A stream is reset, and its connection used again"))
    func endlessRedirect() async throws {
        try await withServer(router: { request in
            request.path == "/"
                ? .script([
                    .lines("HTTP/1.1 302 Found\nLocation: /end\nContent-Length: 1099511627776\n\n"),
                    .sendGenerated(length: 1 << 40),
                ]) : .text("end")
        }) { server in
            let load = try await Load(server.at())
            #expect(load.text == "end" && server.stats.connectionsAccepted == 2)
        }
    }

    @Test(
        "Odd Locations are followed or delivered",
        arguments: [
            ("/a b?c d", "/a%20b?c%20d"), ("/\u{FC}", "/%C3%BC"), ("/%", "/%25"), ("?q", "/start?q"), ("", "302"),
            ("::::", "302"), ("#x", "/start"), ("./../../x", "/x"), ("//", "302"), ("http://", "302"),
            ("http://[", "302"),
            ("http://:80/", "302"), ("http://a:99999/", "302"), ("http:/x", "302"), ("/x\u{7F}y", "302 or path"),
            ("/a\\b", "/a%5Cb"), ("/\"<>", "/%22%3C%3E"), ("/\t", "/"), ("/start", "too many"),
            ("file:///etc/passwd", "refused"),
            ("data:text/plain,x", "refused"), ("javascript:alert(1)", "refused"), ("ftp://127.0.0.1/", "refused"),
            ("x-app://open", "refused"), ("mailto:x@y.test", "refused"),
        ])
    func locations(location: String, outcome: String) async throws {
        try await withServer(router: { request in
            request.target == "/start"
                ? .script([.lines("HTTP/1.1 302 Found\nLocation: \(location)\nContent-Length: 0\n\n")])
                : .text(request.target)
        }) { server in
            let load = try await Load(server.at("/start"))
            switch outcome {
            case "302": #expect(load.status == 302 && load.error == nil, "\(load.message)")
            case "refused": #expect(load.code == .unsupportedURL, "\(load.status) \(load.message)")
            case "too many": #expect(load.code == .httpTooManyRedirects)
            case "302 or path": #expect(load.error == nil)
            case "/start": #expect(load.code == .httpTooManyRedirects)
            default: #expect(load.text == outcome, "\(load.status) \(load.message)")
            }
        }
    }

    @Test(
        "A body compressed twice that grows huge holds up neither other loads nor a cancellation",
        .timeLimit(.minutes(5)))
    func nestedBomb() async throws {
        // 4 GiB of zeros in a few kilobytes: twice a factor of about a thousand. And that again and again, so that the
        // end is many minutes away, however late the cancellation comes.
        var inner: [UInt8] = []
        let member = try #require(Gzip.compress([UInt8](repeating: 0, count: 64 << 20), level: 9))
        for _ in 0..<64 { inner += member }
        let part = try #require(Gzip.compress(inner, level: 9))
        let bomb = Array(repeatElement(part, count: 400).joined())
        try await withServer(router: { request in
            request.path == "/bomb"
                ? ServerResponse.bytes(bomb).adding("Content-Encoding", "gzip, gzip") : .text("fine")
        }) { server in
            let notebook = Notebook(act: { call, _, task in if call == .response { task?.cancel() } })
            let first = URLSession(configuration: .ephemeral, delegate: notebook, delegateQueue: nil)
            try first.dataTask(with: server.at("/bomb")).resume()
            await notebook.ended.wait()
            #expect((notebook.error as? URLError)?.code == .cancelled)

            // A program that takes the body asks for trouble, but may change its mind.
            let explosion = Signal()
            let taker = Notebook(act: { call, _, _ in if call == .data { explosion.fire() } })
            let session = URLSession.made()
            let load = try session.dataTask(with: server.at("/bomb"))
            load.delegate = taker
            load.resume()
            await explosion.wait()
            let other = try await Load(server.at("/other"), in: session)
            #expect(other.text == "fine")
            load.cancel()
            await taker.ended.wait()
            #expect((taker.error as? URLError)?.code == .cancelled)
            session.invalidateAndCancel()
        }
    }

    @Test(
        "A coded body that never decodes to a byte holds up neither other loads nor a cancellation",
        .timeLimit(.minutes(5)))
    func emptyBomb() async throws {
        // Eight hundred million empty members, three codings deep, in 65 kB, which sockets hold: much work and not a
        // byte of output, however late the cancellation comes.
        let member = try #require(Gzip.compress([]))
        let inner = try #require(Gzip.compress(Array(repeatElement(member, count: 200_000).joined()), level: 9))
        let part = try #require(Gzip.compress(Array(repeatElement(inner, count: 400).joined()), level: 9))
        let bomb = Array(repeatElement(part, count: 10).joined())
        try await withServer(router: { request in
            request.path == "/bomb"
                ? ServerResponse.bytes(bomb).adding("Content-Encoding", "gzip, gzip, gzip") : .text("fine")
        }) { server in
            // A body without output counts as silence, which must not end the load before it is cancelled.
            let session = URLSession.made { $0.timeoutIntervalForRequest = 600 }
            let url = try server.at("/bomb")
            let load = Task { await Load(url, in: session) }
            await server.wait { $0.responses >= 1 }
            let other = try await Load(server.at("/other"), in: session)
            #expect(other.text == "fine")
            load.cancel()
            let ended = await load.value
            #expect(ended.code == .cancelled)
        }
    }

    @Test("Thousands of answers bent at random each end in a response or an error, and none spoils the next")
    func mutations() async throws {
        let seeds = [
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\nhello",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n5;a=b\r\nhello\r\n0\r\nX: y\r\n\r\n",
            "HTTP/1.1 103 Early\r\nLink: <a>\r\n\r\nHTTP/1.0 301 X\r\nLocation: /mutant?again\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 206 Part\r\nContent-Range: bytes 0-4/5\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nxxxxx",
            "HTTP/1.1 408 Slow\r\nConnection: close\r\nKeep-Alive: timeout=5\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n",
        ].map { Array($0.utf8) }
        let random = Guarded(SeededRandom(seed: 2))
        try await withServer(router: { request in
            guard request.path == "/mutant" else { return .text("fine") }
            let bytes = random.withLock { random in
                var bytes = seeds[Int.random(in: 0..<seeds.count, using: &random)]
                for _ in 0..<Int.random(in: 0...4, using: &random) {
                    let place = Int.random(in: 0..<bytes.count, using: &random)
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                    case 1: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
                    case 2: bytes.remove(at: place)
                    default: bytes.insert(contentsOf: bytes[place...].prefix(20), at: place)
                    }
                }
                return bytes
            }
            return .script([.send(bytes), .close])
        }) { server in
            // Only a load that hangs takes so long, however busy the machine is.
            let session = URLSession.made { $0.timeoutIntervalForRequest = 600 }
            let outcomes = await withTaskGroup(of: Load.self, returning: [Int: Int].self) { group in
                var outcomes: [Int: Int] = [:]
                var started = 0
                func start() {
                    started += 1
                    let url = try? server.at("/mutant")
                    group.addTask { await Load(url ?? URL(fileURLWithPath: "/"), in: session) }
                }
                for _ in 0..<6 { start() }
                for await load in group {
                    outcomes[load.code?.rawValue ?? load.status, default: 0] += 1
                    if started < 3000 { start() }
                }
                return outcomes
            }
            #expect(outcomes.values.reduce(0, +) == 3000)
            #expect(outcomes[URLError.Code.timedOut.rawValue] == nil, "\(outcomes)")
            let next = try await Load(server.at(), in: session)
            #expect(next.text == "fine")
        }
    }

    @Test("An answer that comes while a large body is still being sent is delivered (B11.17)")
    func earlyRefusal() async throws {
        var options = LoopbackServer.Options()
        options.earlyRouter = { request in
            request.path == "/upload" ? ServerResponse.text("too large", status: 413).closing() : nil
        }
        try await withServer(options, router: { _ in .text("x") }) { server in
            var request = try URLRequest("POST", server.at("/upload"))
            request.httpBody = Data(repeating: 1, count: 20 << 20)
            let load = await Load(request)
            #expect(load.status == 413 && load.text == "too large", "\(load.message)")
        }
    }
}
