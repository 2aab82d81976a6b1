import Testing
import URLLoadingSystem
import URLLoadingTestSupport

@Suite("Dialer and Listener", .timeLimit(.minutes(5)))
struct DialerTests {
    /// Dials and waits for the result: nil when it connected.
    private func dial(
        _ loop: Loop, _ address: SocketAddress, _ options: DialOptions = DialOptions()
    ) async throws -> SystemError? {
        try await onLoop(loop) { reactor, finish in
            let dialer = SocketDialer(reactor: reactor)
            var hasReturned = false
            // The attempt is let go at once, and goes on.
            _ = dialer.dial(address, options: options) { result in
                #expect(hasReturned, "the completion ran inside dial")
                #expect(reactor.loop.isCurrent)
                switch result {
                case .success: finish(nil)
                case .failure(let error): finish(error)
                }
            }
            hasReturned = true
        }
    }

    @Test("a port without a listener refuses", arguments: ["127.0.0.1", "::1"])
    func refused(host: String) async throws {
        try await withLoop { loop in
            // No listener of another test gets this port.
            let address = try #require(SocketAddress(literal: host, port: 1))
            let error = try await dial(loop, address)
            #expect(error == SystemError(errno: ECONNREFUSED, call: "connect"))
            #expect(error?.description == "connect: Connection refused")
        }
    }

    @Test("a listener that is closed refuses, although a child that is being started has a copy of it")
    func copiedListener() async throws {
        let place = try ReservedPort()
        try await withLoop { loop in
            let (address, copy) = try await onLoop(loop) { reactor, finish in
                let listener = try Listener(reactor: reactor, address: loopback(port: place.number))
                let copy = dup(try required(Self.listener(at: listener.address.port), "descriptor"))
                listener.close()
                finish((listener.address, copy))
            }
            let error = try await dial(loop, address)
            #expect(error == SystemError(errno: ECONNREFUSED, call: "connect"))
            #expect(close(copy) == 0)
        }
        place.keep()
    }

    /// The descriptor that listens there.
    private static func listener(at port: Int?) -> Int32? {
        (0..<Int32(1 << 16)).first { descriptor in
            var (isListening, size): (Int32, socklen_t) = (0, socklen_t(MemoryLayout<Int32>.size))
            guard getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &size) == 0, isListening != 0
            else { return false }
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isKnown = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) == 0 }
            }
            return isKnown && Int(UInt16(bigEndian: address.sin_port)) == port
        }
    }

    @Test("an address without a route fails at once with the system's reason")
    func unreachable() async throws {
        try await withLoop { loop in
            let multicast = try #require(SocketAddress(literal: "224.0.0.1", port: 80))
            let error = try await dial(loop, multicast)
            #expect(error == SystemError(errno: ENETUNREACH, call: "connect"))
        }
    }

    @Test("a UNIX-domain path that is missing, or that has no listener, fails")
    func missingPath() async throws {
        try await withLoop { loop in
            let path = "/tmp/urlloading-\(getpid())-missing.sock"
            let address = try #require(SocketAddress.unix(path))
            #expect(try await dial(loop, address) == SystemError(errno: ENOENT, call: "connect"))
            let file = open(path, O_CREAT | O_WRONLY, 0o600)
            close(file)
            #expect(try await dial(loop, address) == SystemError(errno: ECONNREFUSED, call: "connect"))
            unlink(path)
        }
    }

    @Test("a cancelled attempt never completes, and closes its socket")
    func cancelled() async throws {
        try await withLoop { loop in
            let (completed, end) = try await onLoop(loop) { reactor, finish in
                let listener = try Listener(reactor: reactor, address: loopback())
                let dialer = SocketDialer(reactor: reactor)
                let observer = Observer()
                reactor.keep(listener, observer)
                var completed = false
                listener.onAccept = { stream in
                    // The connection was made before it was given up: its end tells that the socket is closed.
                    stream.observer = observer
                    reactor.keep(stream)
                }
                observer.onReadable = { stream in finish((completed, stream.drain().last)) }
                let attempt = dialer.dial(listener.address, options: DialOptions()) { _ in completed = true }
                attempt.cancel()
                attempt.cancel()
            }
            #expect(!completed)
            #expect(end == .endOfStream)
        }
    }

    @Test("an attempt that has failed at once can still be cancelled before its completion")
    func cancelledAfterFailure() async throws {
        try await withLoop { loop in
            let completed = try await onLoop(loop) { reactor, finish in
                let dialer = SocketDialer(reactor: reactor)
                var completed = false
                let missing = try required(SocketAddress.unix("/tmp/urlloading-nothing-here.sock"), "path")
                let attempt = dialer.dial(missing, options: DialOptions()) { _ in completed = true }
                attempt.cancel()
                reactor.later { reactor.later { finish(completed) } }
            }
            #expect(!completed)
        }
    }

    @Test("a connection can be bound to a local address and to an interface")
    func bound() async throws {
        try await withLoop { loop in
            let local = try await onLoop(loop) { reactor, finish in
                let options = DialOptions(
                    localAddress: SocketAddress(literal: "127.0.0.9", port: 0), interface: "lo")
                try reactor.connect(loopback(), options: options) { client, _ in finish(client.localAddress) }
            }
            #expect(local?.host == "127.0.0.9")
            let nowhere = DialOptions(interface: "nosuchinterface")
            #expect(
                try await dial(loop, loopback(port: 1), nowhere)?.call == "binding to the interface nosuchinterface")
            let foreign = DialOptions(localAddress: SocketAddress(literal: "203.0.113.1", port: 0))
            #expect(
                try await dial(loop, loopback(port: 1), foreign) == SystemError(errno: EADDRNOTAVAIL, call: "bind"))
        }
    }

    /// Options of a socket that was connected with these.
    private func values(_ options: DialOptions, of names: [(Int32, Int32)]) async throws -> [Int32] {
        try await withLoop { loop in
            try await onLoop(loop) { reactor, finish in
                try reactor.connect(loopback(), options: options) { client, _ in
                    let values = names.map { level, name in
                        var value: Int32 = -1
                        var length = socklen_t(MemoryLayout<Int32>.size)
                        _ = client.withDescriptor { getsockopt($0, level, name, &value, &length) }
                        return value
                    }
                    finish(values)
                }
            }
        }
    }

    @Test("options that are not asked for are off")
    func optionsOff() async throws {
        let names = [(Int32(IPPROTO_TCP), TCP_NODELAY), (SOL_SOCKET, SO_KEEPALIVE)]
        #expect(try await values(DialOptions(keepAlive: false, noDelay: false), of: names) == [0, 0])
    }

    @Test(
        "B16.83: the system asks a silent peer after so many whole seconds, and again after as many",
        arguments: [
            (Duration.seconds(20), Int32(20)), (.milliseconds(20_001), 21), (.milliseconds(1), 1), (.zero, 1),
            (.seconds(32_767), 32_767), (.seconds(40_000), 32_767), (.seconds(3_153_600_000), 32_767),
        ])
    func probes(interval: Duration, seconds: Int32) async throws {
        let names = [
            (SOL_SOCKET, SO_KEEPALIVE), (Int32(IPPROTO_TCP), TCP_KEEPIDLE), (Int32(IPPROTO_TCP), TCP_KEEPINTVL),
        ]
        #expect(try await values(DialOptions(probeInterval: interval), of: names) == [1, seconds, seconds])
        let off = try await values(DialOptions(keepAlive: false, probeInterval: interval), of: names)
        #expect(off.first == 0)
    }

    @Test("B16.83: bytes that a silent peer does not acknowledge are sent for as long as it would be asked, no longer")
    func unacknowledged() async throws {
        let names = [(Int32(IPPROTO_TCP), TCP_USER_TIMEOUT)]
        for (interval, milliseconds) in [(Duration.milliseconds(1), Int32(10_000)), (.seconds(40_000), 327_670_000)] {
            #expect(try await values(DialOptions(probeInterval: interval), of: names) == [milliseconds])
            #expect(try await values(DialOptions(keepAlive: false, probeInterval: interval), of: names) == [0])
        }
        #expect(try await values(DialOptions(), of: names) == [0])
    }

    /// What comes of options where the system refuses each of them: a descriptor that is no socket has none.
    private func applied(_ options: DialOptions) -> SystemError? {
        let noSocket = open("/dev/null", O_RDWR)
        defer { close(noSocket) }
        do {
            try options.apply(to: noSocket, family: .ipv4)
            return nil
        } catch {
            return error
        }
    }

    @Test("B16.13: a system that refuses keep-alive and no delay still connects")
    func refusedPoliteness() {
        #expect(applied(DialOptions()) == nil)
    }

    @Test("B16.83: options that the program has asked for are not left out, and the error says which was refused")
    func refusedWish() {
        let probing = applied(DialOptions(probeInterval: .seconds(20)))
        #expect(probing == SystemError(errno: ENOTSOCK, call: "setting how often TCP asks a silent peer"))
        let bound = DialOptions(localAddress: SocketAddress(literal: "127.0.0.1", port: 0))
        #expect(applied(bound) == SystemError(errno: ENOTSOCK, call: "bind"))
        #expect(applied(DialOptions(interface: "lo"))?.call == "binding to the interface lo")
    }

    @Test("a UNIX-domain listener whose queue is full is tried again until there is room")
    func unixQueueFull() async throws {
        let path = "/tmp/urlloading-\(getpid())-queue.sock"
        unlink(path)
        let address = try #require(SocketAddress.unix(path))
        var system = sockaddr_un()
        system.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &system.sun_path) { $0.copyBytes(from: path.utf8) }
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer {
            close(listener)
            unlink(path)
        }
        let bound = withUnsafePointer(to: &system) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(bound == 0 && listen(listener, 0) == 0)
        try await withLoop { loop in
            #expect(try await dial(loop, address) == nil)
            // The first connection fills the queue; the second waits until it is taken out.
            async let second = dial(loop, address)
            try await onLoop(loop) { _, finish in finish(()) }
            close(accept(listener, nil, nil))
            #expect(try await second == nil)
        }
    }

    @Test("a listener takes a crowd that connects at once")
    func crowd() async throws {
        try await withLoop { loop in
            let count = try await onLoop(loop) { reactor, finish in
                let listener = try Listener(reactor: reactor, address: loopback(), backlog: 512)
                let dialer = SocketDialer(reactor: reactor)
                reactor.keep(listener)
                var accepted = 0
                listener.onAccept = { stream in
                    accepted += 1
                    stream.close()
                    if accepted == 300 {
                        finish(accepted)
                    }
                }
                for _ in 0..<300 {
                    _ = dialer.dial(listener.address, options: DialOptions()) { _ in }
                }
            }
            #expect(count == 300)
        }
    }

    @Test("a listener that is closed removes its path, and an address in use is an error")
    func listenerErrors() async throws {
        try await withLoop { loop in
            let path = "/tmp/urlloading-\(getpid())-listener.sock"
            unlink(path)
            let error = try await onLoop(loop) { reactor, finish in
                let address = try required(SocketAddress.unix(path), path)
                let listener = try Listener(reactor: reactor, address: address)
                var found = SystemError(errno: 0, call: "none")
                do throws(SystemError) {
                    _ = try Listener(reactor: reactor, address: address)
                } catch {
                    found = error
                }
                listener.close()
                listener.close()
                // Order: last, since the test goes on with it.
                finish(found)
            }
            #expect(error == SystemError(errno: EADDRINUSE, call: "bind"))
            #expect(access(path, F_OK) != 0)
        }
    }
}
