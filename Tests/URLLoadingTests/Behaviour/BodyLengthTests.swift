// Behaviour 16.3, seen by a program: where bodies end, and which errors wrong ends are.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer

@Suite("Lengths of bodies", .http1Only("The text of HTTP/1.1"))
struct BodyLengthTests {
    @Test("B16.30: HEAD, 204, 304 and 1xx have no body, whatever their fields say")
    func noBody() async throws {
        #expect(try await see("\(ok)Content-Length: 1000\n\n", method: "HEAD") == .answer())
        #expect(try await see("\(ok)Transfer-Encoding: chunked\n\n", method: "HEAD") == .answer())
        #expect(try await see("HTTP/1.1 204 X\nContent-Length: 7\n\n") == .answer(204))
        #expect(try await see("HTTP/1.1 304 X\nTransfer-Encoding: chunked\n\n") == .answer(304))
        let informed = "HTTP/1.1 103 X\nContent-Length: 9\n\n\(ok)Content-Length: 2\n\nok"
        #expect(try await see(informed) == .answer(200, "ok"))
        // Bytes that follow nevertheless are not part of it, and end the connection.
        #expect(try await see("\(ok)Content-Length: 4\n\nbody", method: "HEAD") == .answer(reused: false))
        #expect(try await see("HTTP/1.1 204 X\n\nbody") == .answer(204, reused: false))
    }

    @Test("B16.31: Transfer-Encoding beats Content-Length, and the connection is not used again")
    func both() async throws {
        for length in ["2", "99999", "nonsense"] {
            let text = "\(ok)Content-Length: \(length)\nTransfer-Encoding: chunked\n\n5\nhello\n0\n\n"
            #expect(try await see(text) == .answer(200, "hello", reused: false))
        }
    }

    @Test("B16.32: a last coding other than chunked is read to the close, an unknown one is −1011")
    func otherCodings() async throws {
        #expect(
            try await see("\(ok)Transfer-Encoding: identity\n\nhello", then: [.close])
                == .answer(200, "hello", reused: false))
        #expect(try await see("\(ok)Transfer-Encoding: smoke\n\nhello", then: [.close]) == .failure(.badServerResponse))
        #expect(
            try await see("\(ok)Transfer-Encoding: chunked, chunked\n\n0\n\n", then: [.close])
                == .failure(.badServerResponse))
    }

    @Test("B16.33: chunked in an HTTP/1.0 response is read, and the connection closed")
    func oldChunked() async throws {
        let text = "HTTP/1.0 200 OK\nConnection: keep-alive\nTransfer-Encoding: chunked\n\n2\nok\n0\n\n"
        #expect(try await see(text) == .answer(200, "ok", reused: false))
    }

    @Test("B16.34: equal lengths count once, different or invalid ones are −1017")
    func lengths() async throws {
        #expect(try await see("\(ok)Content-Length: 2, 2\n\nok") == .answer(200, "ok"))
        #expect(try await see("\(ok)Content-Length: 2\nContent-Length: 2\n\nok") == .answer(200, "ok"))
        for value in ["2, 3", "", "+2", "-2", "0x2", "2 2", "2,", "2.0", "\u{0662}", "2;q=1", "two"] {
            #expect(
                try await see("\(ok)Content-Length: \(value)\n\nok", then: [.close]) == .failure(.cannotParseResponse),
                "\(value)")
        }
    }

    @Test("B16.35: a length above 2^63−1 is −1017")
    func hugeLength() async throws {
        for value in ["9223372036854775808", "18446744073709551616", String(repeating: "9", count: 5000)] {
            #expect(
                try await see("\(ok)Content-Length: \(value)\n\nok", then: [.close]) == .failure(.cannotParseResponse))
        }
        // The largest length is valid, and is never reached.
        let largest = try await see("\(ok)Content-Length: 9223372036854775807\n\nok", then: [.close])
        #expect(largest == .failure(.networkConnectionLost))
    }

    @Test("B16.36: with neither length nor chunks the body goes to the close, in HTTP/1.1 too")
    func untilClose() async throws {
        #expect(try await see("\(ok)\nhello", then: [.close]) == .answer(200, "hello", reused: false))
        #expect(try await see("HTTP/1.0 200 OK\n\nhello", then: [.close]) == .answer(200, "hello", reused: false))
        #expect(try await see("\(ok)\n", then: [.close]) == .answer(200, "", reused: false))
    }

    @Test("B16.37, B16.38: closed before the length or the last chunk is −1005; what came was delivered")
    func closedInBody() async throws {
        for text in [
            "\(ok)Content-Length: 10\n\nhello", "\(ok)Transfer-Encoding: chunked\n\n5\nhello\n",
            "\(ok)Transfer-Encoding: chunked\n\na\nhello", "\(ok)Transfer-Encoding: chunked\n\n5\nhello\n0\n",
        ] {
            #expect(try await see(text, then: [.close]) == .failure(.networkConnectionLost), "\(text)")
            try await withServer(router: { _ in .script([.lines(text), .close]) }) { server in
                let notebook = Notebook()
                let session = URLSession(configuration: .ephemeral, delegate: notebook, delegateQueue: nil)
                let task = try session.dataTask(with: server.at())
                task.resume()
                await notebook.ended.wait()
                #expect(notebook.byteCount == 5)
                #expect(notebook.calls == [.response, .data, .metrics, .completed])
                #expect((task.response as? HTTPURLResponse)?.statusCode == 200)
                session.invalidateAndCancel()
            }
        }
    }

    @Test("B16.39: more bytes than announced are not the body's, and end the connection")
    func tooMuch() async throws {
        #expect(try await see("\(ok)Content-Length: 2\n\nok and more") == .answer(200, "ok", reused: false))
        #expect(try await see("\(ok)Content-Length: 0\n\nmore") == .answer(200, "", reused: false))
        #expect(
            try await see("\(ok)Transfer-Encoding: chunked\n\n2\nok\n0\n\nHTTP/1.1 200 OK\nContent-Length: 4\n\nevil")
                == .answer(200, "ok", reused: false))
    }

    @Test("B16.40: a reset in the body is −1005 over ECONNRESET, whatever delimits the body")
    func reset() async throws {
        for head in ["Content-Length: 10\n", "Transfer-Encoding: chunked\n", ""] {
            let gate = ServerGate()
            let start = head.hasPrefix("T") ? "5\nhello\n" : "hello"
            try await withServer(
                router: { _ in .script([.lines("\(ok)\(head)\n\(start)"), .wait(gate), .reset]) }
            ) { server in
                let notebook = Notebook(act: { call, _, _ in if call == .data { gate.open() } })
                let session = URLSession(configuration: .ephemeral, delegate: notebook, delegateQueue: nil)
                try session.dataTask(with: server.at()).resume()
                await notebook.ended.wait()
                let error = try #require(notebook.error as? URLError)
                #expect(error.code == .networkConnectionLost)
                let cause = try #require(error.userInfo[NSUnderlyingErrorKey] as? any Error) as NSError
                #expect(cause.domain == NSPOSIXErrorDomain && cause.code == Int(ECONNRESET))
                #expect(notebook.byteCount == 5)
                session.invalidateAndCancel()
            }
        }
    }

    @Test("B16.41: closed before any byte, or inside the head, is −1005")
    func closedEarly() async throws {
        for text in ["", "HTTP/1.1 2", ok, "\(ok)Content-Le", "HTTP/1.1 100 Continue\n\n"] {
            #expect(try await see(text, then: [.close]) == .failure(.networkConnectionLost), "\(text)")
        }
    }

    @Test("B16.42 to B16.45: chunk sizes, extensions, blanks and line ends")
    func chunks() async throws {
        let chunked = "\(ok)Transfer-Encoding: chunked\n\n"
        let long = ";" + String(repeating: "x", count: 4000)
        for body in [
            "5\nhello\n0\n\n", "0005\nhello\n000\n\n", "5;a=b;c=\"d;e\"\nhello\n0;x\n\n", "5 \t\nhello\n0\n\n",
            "2\nhe\n3\nllo\n0\n\n", "5\(long)\nhello\n0\n\n",
        ] {
            #expect(try await see(chunked + body) == .answer(200, "hello"), "\(body.prefix(40))")
        }
        for body in [
            "8000000000000000\nhello\n", "10000000000000000\nhello\n", "\nhello\n", "-5\nhello\n", "+5\nhello\n",
            "0x5\nhello\n", " 5\nhello\n", "5 5\nhello\n", "g\nhello\n", "5\nhelloX0\n\n", "5\nhello0\n\n",
            "5\(long)\(long)\nhello\n0\n\n",
        ] {
            #expect(
                try await see(chunked + body, then: [.close]) == .failure(.cannotParseResponse), "\(body.prefix(40))")
        }
        let mixed = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\n0\r\n\r\n"
        #expect(try await see(raw: mixed) == .answer(200, "hello"), "B16.22: a bare LF ends what CRLF ends")
    }

    @Test("B16.46, B16.47: trailers are read, kept apart, and only behind them the connection is free")
    func trailers() async throws {
        let text = "\(ok)Transfer-Encoding: chunked\nX-Head: 1\n\n2\nok\n0\nX-Trailer: 2\nX-Head: 3\n\n"
        #expect(try await see(text) == .answer(200, "ok"))
        try await withServer(router: { _ in .script([.lines(text)]) }) { server in
            let load = try await Load(server.at())
            #expect(load.fields["X-Trailer"] == nil && load.fields["X-Head"] == "1")
        }
    }

    @Test("B16.48: gzip below chunked is undone")
    func gzipBelowChunked() async throws {
        let coded = try #require(Gzip.compress(Array("hello".utf8)))
        let size = String(coded.count, radix: 16)
        let steps: [ScriptStep] = [
            .lines("\(ok)Transfer-Encoding: gzip, chunked\n\n\(size)\n"), .send(coded), .lines("\n0\n\n"),
        ]
        #expect(try await see(steps) == .answer(200, "hello"))
    }
}
