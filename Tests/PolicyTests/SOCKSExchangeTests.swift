// Conversations with SOCKS proxies, byte for byte, in every split, and with peers that do not speak SOCKS.

import Testing
import URLLoadingPolicy

@Suite struct SOCKSExchangeTests {
    /// What came of a conversation.
    private struct Result: Equatable {
        var sent: [[UInt8]] = []
        var end: SOCKSExchange.Step = .needMore
        /// Bytes that are not the proxy's.
        var rest: [UInt8] = []
    }

    /// Runs a conversation in which the proxy says everything at once or in pieces that end at these offsets.
    private func run(_ exchange: SOCKSExchange, _ input: [UInt8], cuts: [Int] = []) -> Result {
        var exchange = exchange
        var result = Result()
        func note(_ step: SOCKSExchange.Step) -> Bool {
            switch step {
            case .send(let bytes): result.sent.append(bytes)
            case .needMore: return false
            case .open, .failed: result.end = step
            }
            return result.end == .needMore
        }
        guard note(exchange.start()) else { return result }
        var start = 0
        for end in cuts + [input.count] {
            let piece = Array(input[start..<end])
            start = end
            var offset = 0
            if result.end == .needMore {
                while note(piece.withUnsafeBytes { exchange.next($0, offset: &offset) }) {}
            }
            if result.end != .needMore { result.rest += piece[offset...] }
        }
        return result
    }

    /// What comes of an input in one piece; checks that byte by byte and cut at every place it comes to that too.
    private func everySplit(
        _ exchange: SOCKSExchange, _ input: [UInt8], sourceLocation: SourceLocation = #_sourceLocation
    ) -> Result {
        let whole = run(exchange, input)
        #expect(run(exchange, input, cuts: Array(input.indices.dropFirst())) == whole, sourceLocation: sourceLocation)
        for cut in input.indices.dropFirst() {
            #expect(run(exchange, input, cuts: [cut]) == whole, "cut at \(cut)", sourceLocation: sourceLocation)
        }
        return whole
    }

    private func version4(_ target: SOCKSExchange.Target, port: Int = 443, user: String? = nil) -> SOCKSExchange {
        SOCKSExchange(
            isVersion5: false, target: target, port: port,
            credentials: user.map { ProxyCredentials(user: $0, password: "unused") })
    }

    private func version5(
        _ target: SOCKSExchange.Target = .address([192, 0, 2, 1]), _ credentials: (String, String)? = nil
    ) -> SOCKSExchange {
        SOCKSExchange(
            isVersion5: true, target: target, port: 0x1F90,
            credentials: credentials.map { ProxyCredentials(user: $0.0, password: $0.1) })
    }

    // MARK: SOCKS4

    @Test("B13.22: SOCKS4: version, command, port, address, user, NUL; 90 opens")
    func socks4() {
        let result = everySplit(version4(.address([192, 0, 2, 7]), user: "me"), [0, 90, 1, 2, 3, 4, 5, 6])
        #expect(result == Result(sent: [[4, 1, 1, 187, 192, 0, 2, 7, 109, 101, 0]], end: .open))
        #expect(run(version4(.address([192, 0, 2, 7])), []).sent == [[4, 1, 1, 187, 192, 0, 2, 7, 0]])
    }

    @Test("B13.22: SOCKS4 says no at its second byte, whatever follows")
    func socks4Refusals() {
        for (code, failure) in [
            (91, .rejected(code: 91)), (92, .identUnreachable), (93, .identMismatch), (0, .rejected(code: 0)),
            (255, .rejected(code: 255)),
        ] as [(UInt8, SOCKSFailure)] {
            #expect(run(version4(.address([1, 2, 3, 4])), [0, code]).end == .failed(failure))
            #expect(
                everySplit(version4(.address([1, 2, 3, 4])), [0, code, 0, 0, 0, 0, 0, 0]).end == .failed(failure))
        }
        #expect(run(version4(.address([1, 2, 3, 4])), [4, 90]).end == .failed(.malformed))
    }

    @Test("B13.22: what SOCKS4 cannot express is not sent")
    func socks4Inexpressible() {
        let six = [UInt8](repeating: 0, count: 16)
        #expect(run(version4(.address(six)), []) == Result(end: .failed(.unsendableTarget)))
        #expect(run(version4(.name("a\u{0}b")), []) == Result(end: .failed(.unsendableTarget)))
        #expect(
            run(version4(.address([1, 2, 3, 4]), user: "a\u{0}b"), []) == Result(end: .failed(.unsendableCredentials)))
    }

    @Test("B13.23: SOCKS4A: an impossible address, the user, the name")
    func socks4a() {
        let result = everySplit(version4(.name("a.test"), port: 80, user: "u"), [0, 90, 0, 0, 0, 0, 0, 0])
        #expect(result.sent == [[4, 1, 0, 80, 0, 0, 0, 1, 117, 0] + Array("a.test".utf8) + [0]])
        #expect(result.end == .open)
    }

    // MARK: SOCKS5

    @Test("B13.24: SOCKS5 without credentials offers no authentication only, and connects by each type of address")
    func socks5() {
        let six = [UInt8](0..<16)
        let answer: [UInt8] = [5, 0, 5, 0, 0, 1, 10, 0, 0, 1, 4, 56]
        let encodings: [(target: SOCKSExchange.Target, kind: [UInt8], value: [UInt8])] = [
            (.address([192, 0, 2, 1]), [1], [192, 0, 2, 1]), (.address(six), [4], six),
            (.name("a.test"), [3, 6], Array("a.test".utf8)),
        ]
        for encoding in encodings {
            // Step by step: the compiler takes thirteen seconds for sums of arrays.
            var connect: [UInt8] = [5, 1, 0]
            connect += encoding.kind
            connect += encoding.value
            connect += [0x1F, 0x90] as [UInt8]
            let result = everySplit(version5(encoding.target), answer)
            #expect(result == Result(sent: [[5, 1, 0], connect], end: .open))
        }
        let longest = String(repeating: "a", count: 255)
        #expect(run(version5(.name(longest)), [5, 0]).sent.last?.count == 4 + 1 + 255 + 2)
        for impossible in [SOCKSExchange.Target.name(longest + "a"), .name(""), .address([1, 2, 3])] {
            #expect(run(version5(impossible), [5, 0]).end == .failed(.unsendableTarget))
        }
    }

    @Test("B13.24: with credentials both methods are offered, and the password is sent where it is wanted")
    func password() {
        let open: [UInt8] = [5, 0, 0, 1, 0, 0, 0, 0, 0, 0]
        let exchange = version5(.address([192, 0, 2, 1]), ("me", "abc"))
        let asked = everySplit(exchange, [5, 2] + [1, 0] + open)
        #expect(
            asked.sent == [[5, 2, 0, 2], [1, 2, 109, 101, 3, 97, 98, 99], [5, 1, 0, 1, 192, 0, 2, 1, 0x1F, 0x90]])
        #expect(asked.end == .open)
        #expect(run(exchange, [5, 0] + open).sent.count == 2, "not asked for")
        for status: UInt8 in [1, 2, 255] {
            #expect(everySplit(exchange, [5, 2, 1, status]).end == .failed(.badCredentials))
        }
        #expect(run(exchange, [5, 2, 5, 0] + open).end == .open, "some repeat the version of SOCKS")
    }

    @Test("B13.24: no acceptable method, a method that was not offered, credentials that cannot be sent")
    func methods() {
        #expect(everySplit(version5(), [5, 255]).end == .failed(.noAcceptableMethod))
        for method: UInt8 in [1, 3, 128, 254] {
            #expect(run(version5(), [5, method]).end == .failed(.malformed), "\(method)")
        }
        #expect(run(version5(), [5, 2]).end == .failed(.noAcceptableMethod), "it wants a password all the same")
        let long = String(repeating: "x", count: 256)
        for credentials in [("", "x"), ("x", ""), (long, "x"), ("x", long)] {
            let result = run(version5(.address([1, 2, 3, 4]), credentials), [5, 2])
            #expect(result == Result(end: .failed(.unsendableCredentials)))
        }
    }

    @Test("B13.25: each reply is told as what it is, at its second byte")
    func replies() {
        for code in UInt8(1)...255 {
            #expect(run(version5(), [5, 0, 5, code]).end == .failed(.reply(code)))
        }
        let texts = Set((UInt8(1)...9).map { SOCKSFailure.reply($0).description })
        #expect(texts.count == 9, "each code has words of its own")
        #expect(SOCKSFailure.reply(5).isAboutAddress && !SOCKSFailure.reply(2).isAboutAddress)
        #expect(SOCKSFailure.noAcceptableMethod.isAboutCredentials && !SOCKSFailure.reply(1).isAboutCredentials)
    }

    // MARK: The bytes around it

    @Test("B13.29: answers may come in any pieces, and what follows them is the tunnel's")
    func leftovers() {
        let tunnelled = Array("SSH-2.0-first\r\n".utf8)
        for (bound, exchange) in [
            ([1, 10, 0, 0, 1, 0, 22], version5()), ([4] + [UInt8](repeating: 9, count: 18), version5()),
            ([3, 3, 97, 98, 99, 0, 22], version5()), ([3, 0, 0, 22], version5()),
        ] as [([UInt8], SOCKSExchange)] {
            let result = everySplit(exchange, [5, 0] + [5, 0, 0] + bound + tunnelled)
            #expect(result.end == .open && result.rest == tunnelled)
        }
        let result = everySplit(version4(.address([1, 2, 3, 4])), [0, 90, 0, 0, 0, 0, 0, 0] + tunnelled)
        #expect(result.end == .open && result.rest == tunnelled)
    }

    @Test(
        "B13.25: an answer that is not SOCKS has an error of its own",
        arguments: ["HTTP/1.1 400 Bad Request\r\n\r\n", "\u{0}\u{0}"])
    func garbage(text: String) {
        #expect(run(version5(), Array(text.utf8)).end == .failed(.malformed))
        #expect(run(version5(), [5, 0] + Array(text.utf8)).end == .failed(.malformed))
        #expect(run(version5(), [5, 0, 5, 0, 0, 7]).end == .failed(.malformed), "an unknown type of address")
    }

    @Test("B13.29: whatever a proxy sends, its pieces do not change the result, and no byte too much is read")
    func anything() {
        var random = SeededRandom(seed: 13)
        for _ in 0..<3_000 {
            let isVersion5 = Bool.random(using: &random)
            var input: [UInt8] = isVersion5 ? [5, 0, 5, 0, 0] : [0, 90]
            // Mostly right beginnings, so that the random part is read as every part of an answer.
            input = Array(input.prefix(Int.random(in: 0...input.count, using: &random)))
            input += (0..<Int.random(in: 0..<40, using: &random)).map { _ in
                UInt8.random(in: Bool.random(using: &random) ? 0...5 : 0...255, using: &random)
            }
            let exchange =
                isVersion5
                ? version5(.name("a.test"), Bool.random(using: &random) ? ("u", "p") : nil)
                : version4(.address([1, 2, 3, 4]))
            let whole = run(exchange, input)
            #expect(run(exchange, input, cuts: Array(input.indices.dropFirst())) == whole)
            if whole.end == .open { #expect(input.suffix(whole.rest.count) == whole.rest[...]) }
        }
    }
}
