import Testing
import URLLoadingSystem
import URLLoadingTestSupport

@Suite("MemoryNetwork")
struct MemoryNetworkTests {
    @Test("a scripted peer answers in virtual time, in pieces, and ends")
    func script() {
        let reactor = Reactor(virtualTime: ())
        let network = MemoryNetwork(reactor: reactor)
        var server: ScriptedPeer?
        network.serve("name.example") { stream in
            server = ScriptedPeer(
                stream, on: reactor,
                [
                    .receiveHead, .delay(.seconds(2)),
                    .sendInPieces(Array("abcdef".utf8), size: 2, pause: .seconds(1)), .halfClose, .receiveEnd,
                ])
        }
        var client: ScriptedPeer?
        let dialer = network.makeDialer()
        _ = network.makeResolver().resolve("name.example", port: 80) { result in
            guard let address = try? result.get().first else { return }
            _ = dialer.dial(address, options: DialOptions()) { result in
                guard let stream = try? result.get() else { return }
                client = ScriptedPeer(stream, on: reactor, [.send("GET\r\n\r\n"), .receiveEnd, .halfClose])
            }
        }
        reactor.runPending()
        #expect(server?.text == "GET\r\n\r\n")
        #expect(client?.text == "")
        reactor.advance(by: .seconds(2))
        #expect(client?.text == "ab")
        reactor.advance(by: .seconds(1))
        #expect(client?.text == "abcd")
        #expect(client?.sawEnd == false)
        reactor.advance(by: .seconds(2))
        #expect(client?.text == "abcdef")
        #expect(client?.sawEnd == true && server?.isDone == true)
        #expect(network.streams.total == 2 && network.streams.open == 0)
        #expect(network.dialled == ["10.0.0.1:80"] && network.lookedUp == ["name.example"])
    }

    @Test("names and addresses fail, hang and are cancelled as told")
    func failures() {
        let reactor = Reactor(virtualTime: ())
        let network = MemoryNetwork(reactor: reactor)
        network.setName("slow.example", .addresses(["10.0.0.2"], delay: .seconds(1)))
        network.setName("dead.example", .hangs)
        network.setAddress("10.0.0.3:80", .hang)
        network.setAddress("10.0.0.4:80", .fail(errno: 113, delay: .seconds(1)))
        var log: [String] = []
        let resolver = network.makeResolver()
        let dialer = network.makeDialer()
        func note(_ name: String) -> (Result<[SocketAddress], ResolverFailure>) -> Void {
            { result in
                switch result {
                case .success(let addresses): log.append("\(name) \(addresses)")
                case .failure(let failure): log.append("\(name) \(failure.reason)")
                }
            }
        }
        _ = resolver.resolve("unknown.example", port: 80, completion: note("unknown"))
        _ = resolver.resolve("10.9.9.9", port: 80, completion: note("literal"))
        _ = resolver.resolve("slow.example", port: 80, completion: note("slow"))
        let dead = resolver.resolve("dead.example", port: 80, completion: note("dead"))
        reactor.runPending()
        #expect(log == ["unknown noSuchHost", "literal [10.9.9.9:80]"])
        dead.cancel()
        reactor.advance(by: .seconds(60))
        #expect(log.count == 3 && log.last == "slow [10.0.0.2:80]")
        #expect(network.cancelledLookups == ["dead.example"])

        log = []
        var attempts: [any DialAttempt] = []
        for number in 2...4 {
            guard let address = SocketAddress(literal: "10.0.0.\(number)", port: 80) else { continue }
            attempts.append(
                dialer.dial(address, options: DialOptions()) { result in
                    if case .failure(let error) = result {
                        log.append("\(number) \(error)")
                    }
                })
        }
        reactor.advance(by: .seconds(5))
        #expect(log == ["2 connect: Connection refused", "4 connect: No route to host"])
        attempts[1].cancel()
        attempts[0].cancel()
        #expect(network.cancelledDials == ["10.0.0.3:80"])
    }

    @Test("pipes are bounded, edges are told once, and closing with unread input resets the peer")
    func pipes() {
        let reactor = Reactor(virtualTime: ())
        let counter = OpenCounter()
        let (left, right) = MemoryStream.pair(on: reactor, capacity: 4, counter: counter)
        let observer = Observer()
        var writable = 0
        observer.onWritable = { _ in writable += 1 }
        left.observer = observer
        #expect(left.write("abcdef") == .bytes(4))
        #expect(left.write("ef") == .wouldBlock)
        reactor.runPending()
        #expect(writable == 0 && right.hasPendingInput && !right.isQuiet())
        var two: [UInt8] = [0, 0]
        #expect(two.withUnsafeMutableBytes { right.read(into: $0) } == .bytes(2))
        reactor.runPending()
        #expect(writable == 1)
        right.close()
        var told = 0
        observer.onReadable = { _ in told += 1 }
        reactor.runPending()
        #expect(told == 1)
        guard case .failed = left.drain().last else {
            Issue.record("the reset was not seen")
            return
        }
        left.close()
        #expect(counter.open == 0)
    }
}
