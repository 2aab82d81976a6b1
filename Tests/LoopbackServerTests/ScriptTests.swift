// What only scripts do: raw bytes, gates, resets, half-closes, and writes that block.

import Testing
import URLLoadingLoopbackServer
import URLLoadingSystem

@Suite("LoopbackServer scripts")
struct ScriptTests {
    private let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test("A gate holds the rest of an answer until the test opens it")
    func gate() async throws {
        let gate = ServerGate()
        let server = try LoopbackServer.start { _ in
            .slow([.init("first,"), .init("second", when: gate)])
        }
        let client = try RawClient(port: server.port)
        try client.send(get)
        #expect(try client.read(through: ",").contains("Content-Length: 12\r\n"))
        #expect(server.stats.responses == 0)
        gate.open()
        #expect(try client.read(count: 6) == Array("second".utf8))
        #expect(await server.wait { $0.responses == 1 } != nil)
        await server.stop()
    }

    @Test("A gate that is open already holds nothing")
    func openGate() async throws {
        let gate = ServerGate()
        gate.open()
        let server = try LoopbackServer.start { _ in .script([.wait(gate), .text("through"), .close]) }
        let client = try RawClient(port: server.port)
        try client.send(get)
        #expect(try client.readToEnd() == ("through", .finished))
        await server.stop()
    }

    @Test("A reset is a reset, a close and a drop are not")
    func endings() async throws {
        let server = try LoopbackServer.start { request in
            switch request.target {
            case "/reset": .script([.text("x"), .reset])
            case "/drop": .script([.text("x"), .drop])
            default: .script([.text("x"), .close])
            }
        }
        for (target, end) in [("/reset", RawClient.End.reset), ("/drop", .finished), ("/close", .finished)] {
            let client = try RawClient(port: server.port)
            try client.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try client.readToEnd().end == end, "\(target)")
        }
        #expect(await server.wait { $0.connectionsOpen == 0 } != nil)
        await server.stop()
    }

    @Test("After a half-close the server still reads, and a script can wait for the client's end")
    func halfClose() async throws {
        let server = try LoopbackServer.start { _ in .script([.text("x"), .halfClose, .waitForClose, .drop]) }
        let client = try RawClient(port: server.port)
        try client.send(get)
        #expect(try client.readToEnd() == ("x", .finished))
        #expect(server.stats.connectionsOpen == 1)
        client.finishSending()
        #expect(await server.wait { $0.connectionsOpen == 0 } != nil)
        #expect(server.stats.connectionsLost == 0)
        await server.stop()
    }

    @Test("A script can wait for the next request and goes on as a server after its last step")
    func nextRequest() async throws {
        let server = try LoopbackServer.start { request in
            request.number == 1 ? .script([.text("one"), .waitForRequest, .text("two;")]) : .text("routed;")
        }
        let client = try RawClient(port: server.port)
        try client.send(get + get + get)
        #expect(try client.read(through: "two;") == "onetwo;")
        #expect(try client.read(through: "routed;").hasPrefix("HTTP/1.1 200 "))
        await server.stop()
    }

    @Test("A greeting is played before any request")
    func greeting() async throws {
        var options = LoopbackServer.Options()
        options.greeting = { connection in connection == 1 ? [.text("SSH-2.0-wrong\r\n"), .close] : nil }
        let server = try LoopbackServer.start(options) { _ in .text("usual").closing() }
        #expect(try RawClient(port: server.port).readToEnd().text == "SSH-2.0-wrong\r\n")
        let second = try RawClient(port: server.port)
        try second.send(get)
        #expect(try second.readToEnd().text.hasSuffix("usual"))
        await server.stop()
    }

    @Test("Bytes sent one at a time arrive complete and in order")
    func oneByteAtATime() async throws {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        let server = try LoopbackServer.start { _ in .script([.sendOneByteAtATime(Array(text.utf8)), .close]) }
        let client = try RawClient(port: server.port)
        try client.send(get)
        #expect(try client.readToEnd().text == text)
        await server.stop()
    }

    @Test("A client that does not read stops the server's writes, and reading starts them again")
    func backPressure() async throws {
        var options = LoopbackServer.Options()
        options.sendBufferBytes = 64 << 10
        let length: Int64 = 32 << 20
        let server = try LoopbackServer.start(options) { _ in .generated(length: length) }
        let client = try RawClient(port: server.port, receiveBuffer: 64 << 10)
        try client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(await server.wait { $0.blockedWriters == 1 } != nil)
        #expect(server.stats.bytesWritten < 16 << 20)
        _ = try client.read(through: "\r\n\r\n")
        var position: Int64 = 0
        var isRight = true
        while position < length {
            let bytes = try client.read(count: Int(min(1 << 20, length - position)))
            if bytes.isEmpty { break }
            isRight = isRight && bytes.withUnsafeBytes { GeneratedBytes.matches($0, at: position) }
            position += Int64(bytes.count)
        }
        #expect(position == length)
        #expect(isRight)
        #expect(await server.wait { $0.blockedWriters == 0 && $0.responses == 1 } != nil)
        await server.stop()
    }

    @Test("Requests that wait in the kernel are answered behind those that the server has read")
    func pipelinedBeyondInbox() async throws {
        let gate = ServerGate()
        let server = try LoopbackServer.start { request in
            request.number == 1 ? .slow([.init("[/1]", when: gate)]) : .text("[\(request.target)]")
        }
        let client = try RawClient(port: server.port)
        let padding = String(repeating: "x", count: 1 << 10)
        func send(_ numbers: ClosedRange<Int>) throws {
            try client.send(
                numbers.map { "GET /\($0) HTTP/1.1\r\nHost: a\r\nPadding: \(padding)\r\n\r\n" }.joined())
        }
        // The server reads until it keeps 64 KiB, so that the later ones stay in the kernel.
        try send(1...80)
        #expect(await server.wait { $0.bytesReceived >= 64 << 10 } != nil)
        try send(81...90)
        gate.open()
        for number in 1...90 {
            #expect(try client.read(through: "]").hasSuffix("\r\n\r\n[/\(number)]"))
        }
        await server.stop()
    }

    @Test("A client that leaves in the middle of an answer is counted as lost")
    func clientLeaves() async throws {
        let gate = ServerGate()
        let server = try LoopbackServer.start { _ in .slow([.init("a"), .init("b", when: gate)]) }
        do {
            let client = try RawClient(port: server.port)
            try client.send(get)
            _ = try client.read(through: "\r\n\r\na")
        }
        #expect(await server.wait { $0.connectionsLost == 1 && $0.connectionsOpen == 0 } != nil)
        gate.open()
        await server.stop()
    }

    @Test("Closing the connections leaves the server listening")
    func restart() async throws {
        let server = try LoopbackServer.start { _ in .text("here;") }
        let first = try RawClient(port: server.port)
        try first.send(get)
        _ = try first.read(through: "here;")
        await server.closeConnections()
        #expect(try first.readToEnd() == ("", .finished))
        let second = try RawClient(port: server.port)
        try second.send(get)
        #expect(try second.read(through: "here;").contains("200"))
        await server.stop()
    }

    @Test("A client sees the end of a connection although a process that is being started still holds it")
    func endBesideInheritance() async throws {
        let server = try LoopbackServer.start { _ in .text("here;") }
        let client = try RawClient(port: server.port)
        try client.send(get)
        _ = try client.read(through: "here;")
        // What a child has between its fork and its exec.
        let inherited = try #require(Self.copyOfConnection(at: server.port))
        defer { close(inherited) }
        await server.closeConnections()
        #expect(try client.readToEnd() == ("", .finished))
        await server.stop()
    }

    /// A second descriptor for the server's side of the one connection to a port of this process.
    private static func copyOfConnection(at port: Int) -> Int32? {
        for descriptor in 3..<Int32(4096) {
            var (own, peer) = (sockaddr_in(), sockaddr_in())
            guard Self.name(of: descriptor, in: &own, by: getsockname), Int(UInt16(bigEndian: own.sin_port)) == port,
                Self.name(of: descriptor, in: &peer, by: getpeername)
            else { continue }
            return fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        }
        return nil
    }

    private static func name(
        of descriptor: Int32, in address: inout sockaddr_in,
        by ask: (Int32, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?) -> Int32
    ) -> Bool {
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { ask(descriptor, $0, &length) == 0 }
        } && address.sin_family == sa_family_t(AF_INET)
    }

    @Test("Compressed bodies name their coding and are gzip")
    func compressed() async throws {
        let text = String(repeating: "the same again, ", count: 1000)
        let bytes = try #require(Gzip.compress(Array(text.utf8)))
        #expect(bytes.prefix(2) == [0x1F, 0x8B])
        #expect(bytes.count < 500)
        let response = ServerResponse.text(text).compressed()
        #expect(response.fields.first(.contentEncoding) == "gzip")
    }
}
