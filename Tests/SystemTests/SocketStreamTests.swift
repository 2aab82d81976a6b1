import Testing
import URLLoadingSystem
import URLLoadingTestSupport

@Suite("SocketStream", .timeLimit(.minutes(5)))
struct SocketStreamTests {
    /// Where the tests of one rule run: every kind of socket.
    enum Place: String, CaseIterable, Sendable {
        case ipv4 = "127.0.0.1"
        case ipv6 = "::1"
        case unix

        func address(_ purpose: String) throws -> SocketAddress {
            switch self {
            case .ipv4, .ipv6:
                return try required(SocketAddress(literal: rawValue, port: 0), rawValue)
            case .unix:
                let path = "/tmp/urlloading-\(getpid())-\(purpose).sock"
                unlink(path)
                return try required(SocketAddress.unix(path), path)
            }
        }
    }

    @Test("a connection carries bytes both ways, and its end", arguments: Place.allCases)
    func echo(place: Place) async throws {
        try await withLoop { loop in
            let text = try await onLoop(loop) { reactor, finish in
                try reactor.connect(place.address("echo")) { client, server in
                    ScriptedPeer(server, on: reactor, [.receive(count: 5), .send("world"), .halfClose, .receiveEnd])
                    let peer = ScriptedPeer(client, on: reactor, [.send("hello"), .receiveEnd])
                    peer.add([.run { finish(peer.text) }, .close])
                }
            }
            #expect(text == "world")
        }
    }

    @Test("half-close: what the peer sends after our end still arrives", arguments: Place.allCases)
    func halfClose(place: Place) async throws {
        try await withLoop { loop in
            let text = try await onLoop(loop) { reactor, finish in
                try reactor.connect(place.address("half")) { client, server in
                    ScriptedPeer(server, on: reactor, [.receiveEnd, .send("late answer"), .close])
                    let peer = ScriptedPeer(client, on: reactor, [.send("question"), .halfClose, .receiveEnd])
                    peer.add([.run { finish(peer.text) }])
                }
            }
            #expect(text == "late answer")
        }
    }

    @Test("a large transfer arrives whole although it is written and read in pieces", arguments: Place.allCases)
    func largeTransfer(place: Place) async throws {
        try await withLoop { loop in
            let isWhole = try await onLoop(loop) { reactor, finish in
                let payload = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
                try reactor.connect(place.address("large")) { client, server in
                    ScriptedPeer(server, on: reactor, [.send(payload), .close])
                    let peer = ScriptedPeer(client, on: reactor, [.receiveEnd])
                    peer.add([.run { finish(peer.received == payload) }])
                }
            }
            #expect(isWhole)
        }
    }

    @Test("a reset is a failure, not an end, and stays one")
    func reset() async throws {
        try await withLoop { loop in
            let results = try await onLoop(loop) { reactor, finish in
                try reactor.connect(loopback()) { client, server in
                    let observer = Observer()
                    reactor.keep(observer)
                    client.observer = observer
                    observer.onReadable = { stream in
                        finish([stream.drain().last, stream.drain().last])
                    }
                    server.reset()
                }
            }
            let reset = IOResult.failed(SystemError(errno: ECONNRESET, call: "recv"))
            #expect(results == [reset, reset])
        }
    }

    @Test("an end that was read once is told to every later read")
    func endIsRepeated() async throws {
        try await withLoop { loop in
            let results = try await onLoop(loop) { reactor, finish in
                try reactor.connect(loopback()) { client, server in
                    let observer = Observer()
                    reactor.keep(observer)
                    client.observer = observer
                    observer.onReadable = { stream in
                        let first = stream.drain()
                        let second = stream.drain()
                        finish((String(decoding: first.bytes, as: UTF8.self), first.last, second.last))
                    }
                    _ = server.write("bye")
                    server.close()
                }
            }
            #expect(results == ("bye", .endOfStream, .endOfStream))
        }
    }

    @Test("input that came before a reset is read before the failure, also when a write met the reset first")
    func inputBeforeReset() async throws {
        try await withLoop { loop in
            let results = try await onLoop(loop) { reactor, finish in
                try reactor.connect(loopback()) { client, server in
                    let observer = Observer()
                    reactor.keep(observer)
                    _ = server.write("answer")
                    server.reset()
                    client.observer = observer
                    var isSecond = false
                    observer.onReadable = { stream in
                        // The reset may come with the answer or by itself.
                        var written = stream.write("more")
                        if case .bytes = written {
                            guard !isSecond else { return }
                            isSecond = true
                            return
                        }
                        if case .failed(let error) = written, error.errno != EPIPE {
                            written = .failed(SystemError(errno: ECONNRESET, call: "recv"))
                        }
                        let rest = stream.drain()
                        finish((String(decoding: rest.bytes, as: UTF8.self), written, rest.last))
                    }
                }
            }
            #expect(results.0 == "answer")
            #expect(results.1 == .failed(SystemError(errno: ECONNRESET, call: "recv")))
            #expect(results.2 != .endOfStream)
        }
    }

    @Test(
        "a write that is refused while the connection stands is told to the observer, behind the input that is there",
        arguments: Place.allCases)
    func refusedWrite(place: Place) async throws {
        try await withLoop { loop in
            let results: (String, IOResult, IOResult) = try await onLoop(loop) { reactor, finish in
                try reactor.connect(place.address("refused")) { client, server in
                    let observer = Observer()
                    reactor.keep(observer, server)
                    // Memory that cannot be read: the system says EFAULT, and the socket is as before.
                    let nowhere = UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: 1), count: 10)
                    var written: IOResult?
                    observer.onReadable = { stream in
                        // The answer is there, and waits.
                        guard let refusal = written else { return written = stream.write(nowhere) }
                        let rest = stream.drain()
                        finish((String(decoding: rest.bytes, as: UTF8.self), refusal, rest.last))
                    }
                    client.observer = observer
                    _ = server.write("answer")
                }
            }
            let refusal = IOResult.failed(SystemError(errno: EFAULT, call: "send"))
            #expect(results == ("answer", refusal, refusal))
        }
    }

    @Test("an error of sendfile that is the file's is not taken for the connection's")
    func refusedFile() async {
        // In a process of its own: the file is then read on the loop's thread, at which the suite's would end.
        await #expect(processExitsWith: .success) {
            setenv("URLLOADING_LOOP_WATCH", "tell", 1)
            let file = try OpenFile.open(path: ChildRun.path(of: ChildRun.testPrograms)).get()
            try await withLoop { loop in
                let results: (Bool, IOResult) = try await onLoop(loop) { reactor, finish in
                    try reactor.connect(loopback()) { client, server in
                        reactor.keep(server)
                        // Behind what most file systems can hold: sendfile answers EOVERFLOW, and a
                        // read the end of the file.
                        let written = client.write(file, at: 1 << 60, count: 1)
                        finish((written == .file(.ended), client.write("x")))
                    }
                }
                #expect(results == (true, .bytes(1)))
            }
        }
    }

    @Test("B16.13: writing to a connection the peer has left is an error and no signal", arguments: Place.allCases)
    func noSignal(place: Place) async throws {
        try await withLoop { loop in
            let error: SystemError = try await onLoop(loop) { reactor, finish in
                try reactor.connect(place.address("signal")) { client, server in
                    server.close()
                    let observer = Observer()
                    reactor.keep(observer)
                    func writeUntilRefused() {
                        switch client.write("x") {
                        case .failed(let error): finish(error)
                        case .bytes, .wouldBlock, .endOfStream: reactor.later { writeUntilRefused() }
                        }
                    }
                    writeUntilRefused()
                }
            }
            #expect(error.errno == EPIPE || error.errno == ECONNRESET)
        }
    }

    @Test("two buffers are written in a row, also when one is empty")
    func twoBuffers() async throws {
        try await withLoop { loop in
            let text = try await onLoop(loop) { reactor, finish in
                try reactor.connect(loopback()) { client, server in
                    let head = Array("head ".utf8)
                    let body = Array("body ".utf8)
                    let none: [UInt8] = []
                    for (first, second) in [(head, body), (none, body), (head, none), (none, none)] {
                        let result = first.withUnsafeBytes { first in
                            second.withUnsafeBytes { client.write(first, $0) }
                        }
                        #expect(result == .bytes(first.count + second.count))
                    }
                    client.shutdownWrite()
                    let peer = ScriptedPeer(server, on: reactor, [.receiveEnd])
                    peer.add([.run { finish(peer.text) }])
                }
            }
            #expect(text == "head body body head ")
        }
    }

    @Test("back-pressure: a peer that does not read makes writes block, and is told of room once it reads")
    func backPressure() async throws {
        try await withLoop { loop in
            let (blocked, total) = try await onLoop(loop) { reactor, finish in
                try reactor.connect(loopback()) { client, server in
                    client.setBufferSizes(send: 16 << 10)
                    server.setBufferSizes(receive: 16 << 10)
                    let observer = Observer()
                    reactor.keep(observer)
                    client.observer = observer
                    let block = [UInt8](repeating: 7, count: 8 << 10)
                    var sent = 0
                    func fill() {
                        while case .bytes(let count) = block.withUnsafeBytes({ client.write($0) }) {
                            sent += count
                        }
                    }
                    fill()
                    let before = sent
                    // Every write says so at once, without asking the system.
                    #expect(client.write("x") == .wouldBlock)
                    observer.onWritable = { _ in
                        fill()
                        client.shutdownWrite()
                    }
                    let peer = ScriptedPeer(server, on: reactor, [.receiveEnd])
                    peer.add([.run { finish((before, sent == peer.received.count)) }])
                }
            }
            #expect(blocked > 0 && blocked < 16 << 20)
            #expect(total)
        }
    }

    @Test("B6.42: what a peer has not taken is on its way, and has arrived when it is read", arguments: Place.allCases)
    func delivery(place: Place) async throws {
        try await withLoop { loop in
            let (before, after): (Delivery?, Delivery?) = try await onLoop(loop) { reactor, finish in
                try reactor.connect(place.address("delivery")) { client, server in
                    client.setBufferSizes(send: 16 << 10)
                    server.setBufferSizes(receive: 16 << 10)
                    let block = [UInt8](repeating: 7, count: 8 << 10)
                    var sent = 0
                    while case .bytes(let count) = block.withUnsafeBytes({ client.write($0) }) { sent += count }
                    let before = client.delivery()
                    let observer = Observer()
                    reactor.keep(observer)
                    client.observer = observer
                    // The answer acknowledges everything that was read before it.
                    observer.onReadable = { _ in finish((before, client.delivery())) }
                    ScriptedPeer(server, on: reactor, [.receive(count: sent), .send("x")])
                }
            }
            switch place {
            case .unix: #expect(before == nil && after == nil)
            case .ipv4, .ipv6: #expect(before.map { $0.unacknowledged > 0 } == true && after?.unacknowledged == 0)
            }
        }
    }

    @Test("a reader that stops is not told again, and finds hasPendingInput true")
    func pausedReader() async throws {
        try await withLoop { loop in
            let (calls, pending, text) = try await onLoop(loop) { reactor, finish in
                try reactor.connect(loopback()) { client, server in
                    let observer = Observer()
                    let echo = Observer()
                    reactor.keep(observer, echo)
                    client.observer = observer
                    server.observer = echo
                    var calls = 0
                    observer.onReadable = { _ in
                        calls += 1
                        // More input, whose arrival is certain once the server has heard of our byte.
                        _ = server.write("two")
                        _ = client.write("!")
                    }
                    echo.onReadable = { _ in
                        let pending = client.hasPendingInput
                        let rest = client.drain()
                        finish((calls, pending, String(decoding: rest.bytes, as: UTF8.self)))
                    }
                    _ = server.write("one")
                }
            }
            #expect(calls == 1)
            #expect(pending)
            #expect(text == "onetwo")
        }
    }

    @Test("hasPendingInput: false on a fresh connection and after a short read, true before")
    func pendingInput() async throws {
        try await withLoop { loop in
            let seen = try await onLoop(loop) { reactor, finish in
                try reactor.connect(loopback()) { client, server in
                    var seen = [client.hasPendingInput]
                    let observer = Observer()
                    reactor.keep(observer)
                    client.observer = observer
                    observer.onReadable = { stream in
                        seen.append(stream.hasPendingInput)
                        var two: [UInt8] = [0, 0]
                        // A full buffer: there may be more.
                        #expect(two.withUnsafeMutableBytes { stream.read(into: $0) } == .bytes(2))
                        seen.append(stream.hasPendingInput)
                        #expect(two.withUnsafeMutableBytes { stream.read(into: $0) } == .bytes(1))
                        seen.append(stream.hasPendingInput)
                        #expect(two.withUnsafeMutableBytes { stream.read(into: $0) } == .wouldBlock)
                        finish(seen)
                    }
                    _ = server.write("abc")
                }
            }
            #expect(seen == [false, true, true, false])
        }
    }

    @Test(
        "input is reported when as much has come as was asked for, or the end; an observer that asks for less gets less"
    )
    func leastInput() async throws {
        try await withLoop { loop in
            let counts = try await onLoop(loop) { reactor, finish in
                try reactor.connect(loopback()) { client, server in
                    let observer = Observer()
                    let echo = Observer()
                    reactor.keep(observer, echo)
                    client.observer = observer
                    server.observer = echo
                    var counts: [Int] = []
                    observer.onReadable = { stream in
                        let input = stream.drain()
                        counts.append(input.bytes.count)
                        if input.last == .endOfStream { return finish(counts) }
                        client.reportInput(from: 1_000)
                        _ = server.write("few")
                        server.close()
                    }
                    echo.onReadable = { stream in
                        _ = stream.drain()
                        // Order: the 999 bytes were there before the byte that has led here.
                        client.reportInput(from: 1)
                        counts.append(client.hasPendingInput ? client.drain().bytes.count : 0)
                        client.reportInput(from: 1_000)
                        _ = client.drain()
                        _ = server.write(String(repeating: "b", count: 600))
                        _ = server.write(String(repeating: "c", count: 400))
                    }
                    client.reportInput(from: 1_000)
                    _ = client.drain()
                    _ = server.write(String(repeating: "a", count: 999))
                    _ = client.write("!")
                }
            }
            #expect(counts == [999, 1_000, 3])
        }
    }

    @Test("B16.6, B16.9: an idle connection is quiet until the peer ends it, resets it or sends something")
    func quiet() async throws {
        try await withLoop { loop in
            for deed in ["nothing", "send", "close", "reset"] {
                let seen = try await onLoop(loop) { reactor, finish in
                    try reactor.connect(loopback()) { client, server in
                        var seen = [client.isQuiet()]
                        let observer = Observer()
                        reactor.keep(observer)
                        client.observer = observer
                        observer.onReadable = { stream in
                            seen.append(stream.isQuiet())
                            client.close()
                            seen.append(client.isQuiet())
                            finish(seen)
                        }
                        switch deed {
                        case "send": _ = server.write("x")
                        case "close": server.close()
                        case "reset": server.reset()
                        default: finish(seen)
                        }
                    }
                }
                #expect(seen == (deed == "nothing" ? [true] : [true, false, false]), "\(deed)")
            }
        }
    }

    @Test("a closed stream tells its observer nothing, moves no bytes, and may be closed again")
    func closed() async throws {
        try await withLoop { loop in
            let results = try await onLoop(loop) { reactor, finish in
                let (left, right) = try SocketStream.pair(on: reactor)
                let observer = Observer()
                var isTold = false
                observer.onReadable = { _ in isTold = true }
                reactor.keep(observer, left, right)
                left.observer = observer
                _ = right.write("x")
                left.close()
                left.close()
                left.reset()
                left.shutdownWrite()
                let read = left.drain().last
                let write = left.write("x")
                reactor.later {
                    reactor.later { finish((read, write, isTold, left.hasPendingInput, left.withDescriptor { $0 })) }
                }
            }
            #expect(results.0 == .failed(SystemError(errno: EBADF, call: "recv")))
            #expect(results.1 == .failed(SystemError(errno: EBADF, call: "send")))
            #expect(!results.2 && !results.3 && results.4 == nil)
        }
    }

    @Test("a stream that is let go without close() closes: its peer sees the end")
    func forgotten() async throws {
        try await withLoop { loop in
            let result = try await onLoop(loop) { reactor, finish in
                let observer = Observer()
                observer.onReadable = { finish($0.drain().last) }
                let right = try {
                    let (_, right) = try SocketStream.pair(on: reactor)
                    return right
                }()
                right.observer = observer
                reactor.keep(observer, right)
            }
            #expect(result == .endOfStream)
        }
    }

    @Test("urgent data in the stream does not hide the bytes behind it")
    func urgentData() async throws {
        try await withLoop { loop in
            let text = try await onLoop(loop) { reactor, finish in
                try reactor.connect(loopback()) { client, server in
                    let peer = ScriptedPeer(client, on: reactor, [.receive(count: 10)])
                    peer.add([.run { finish(peer.text) }])
                    _ = server.write("before")
                    _ = server.withDescriptor { send($0, "!", 1, Int32(MSG_OOB)) }
                    _ = server.write("rest")
                }
            }
            #expect(text == "beforerest")
        }
    }

    @Test("B16.13: TCP_NODELAY and SO_KEEPALIVE are on, and no child process inherits the socket")
    func options() async throws {
        try await withLoop { loop in
            let options = try await onLoop(loop) { reactor, finish in
                try reactor.connect(loopback()) { client, server in
                    func option(_ stream: SocketStream, _ level: Int32, _ name: Int32) -> Bool {
                        var value: Int32 = 0
                        var length = socklen_t(MemoryLayout<Int32>.size)
                        _ = stream.withDescriptor { getsockopt($0, level, name, &value, &length) }
                        return value != 0
                    }
                    finish([
                        option(client, Int32(IPPROTO_TCP), TCP_NODELAY), option(client, SOL_SOCKET, SO_KEEPALIVE),
                        option(server, Int32(IPPROTO_TCP), TCP_NODELAY),
                        client.withDescriptor { fcntl($0, F_GETFD) & FD_CLOEXEC != 0 } ?? false,
                        server.withDescriptor { fcntl($0, F_GETFD) & FD_CLOEXEC != 0 } ?? false,
                    ])
                }
            }
            #expect(options == [true, true, true, true, true])
        }
    }

    @Test("both ends know both addresses", arguments: [Place.ipv4, .ipv6])
    func addresses(place: Place) async throws {
        try await withLoop { loop in
            let (client, server) = try await onLoop(loop) { reactor, finish in
                try reactor.connect(place.address("addresses")) { client, server in
                    finish(
                        (
                            [client.localAddress, client.remoteAddress], [server.localAddress, server.remoteAddress]
                        ))
                }
            }
            #expect(client == server.reversed())
            #expect(client.allSatisfy { $0?.host == place.rawValue && $0?.port != 0 })
        }
    }
}
