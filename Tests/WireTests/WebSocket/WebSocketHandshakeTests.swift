// The handshake: what is asked, which answers are answers to it, and the grammar and the meaning of the extensions.

import Testing
import URLLoadingTestSupport
import URLLoadingWire

@Suite("Web socket handshakes")
struct WebSocketHandshakeTests {
    /// The key of the example in RFC 6455 §1.3.
    private static let nonce = Array("the sample nonce".utf8)
    private static let accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

    private func asked(_ handshake: WebSocketHandshake, _ fields: [(String, String)] = []) -> Fields {
        var asked = Fields()
        for (name, value) in fields { asked.append(name, value) }
        handshake.ask(in: &asked)
        return asked
    }

    private func answer(_ fields: [(String, String)], status: Int = 101) -> ResponseHead {
        var head = ResponseHead(status: status)
        for (name, value) in fields { head.fields.append(name, value) }
        return head
    }

    private static let good = [
        ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Accept", accept),
    ]

    private func outcome(
        _ answer: ResponseHead, _ handshake: WebSocketHandshake = WebSocketHandshake(nonce: nonce),
        _ fields: [(String, String)] = []
    ) -> Result<WebSocketHandshake.Agreement, WebSocketHandshake.Refusal> {
        do throws(WebSocketHandshake.Refusal) {
            return .success(try handshake.agreement(with: answer, asked: asked(handshake, fields)))
        } catch {
            return .failure(error)
        }
    }

    @Test("FIPS 180-4: SHA-1 of the examples, and of every length around a block")
    func sha1() {
        func hex(_ text: String) -> String {
            Hexadecimal.text(SHA1.hash(Array(text.utf8)))
        }
        #expect(hex("") == "da39a3ee5e6b4b0d3255bfef95601890afd80709")
        #expect(hex("abc") == "a9993e364706816aba3e25717850c26c9cd0d89d")
        #expect(
            hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
                == "84983e441c3bd26ebaae4aa1f95129e5e54670f1")
        #expect(hex(String(repeating: "a", count: 1000)) == "291e9a6c66994949b57ba5e650361e98fc36b1ba")
        #expect(Set((0...130).map { hex(String(repeating: "a", count: $0)) }).count == 131)
    }

    @Test("R6455 §1.3: the example's Accept value")
    func acceptValue() {
        #expect(WebSocketHandshake.accept(key: "dGhlIHNhbXBsZSBub25jZQ==") == Self.accept)
    }

    @Test("R6455 §4.1: what is asked with; nothing is left of what would contradict it")
    func asking() {
        let fields = asked(
            WebSocketHandshake(nonce: Self.nonce, protocols: ["chat", "superchat"]),
            [
                ("Upgrade", "h2c"), ("Connection", "close"), ("Sec-WebSocket-Key", "x"), ("sec-websocket-version", "8"),
                ("Sec-WebSocket-Extensions", "x-webkit-deflate-frame"), ("Sec-WebSocket-Protocol", "mine"), ("X", "1"),
            ])
        #expect(fields.values("Upgrade") == ["websocket"])
        #expect(fields.values("Connection") == ["Upgrade"])
        #expect(fields.values("Sec-WebSocket-Key") == ["dGhlIHNhbXBsZSBub25jZQ=="])
        #expect(fields.values("Sec-WebSocket-Version") == ["13"])
        #expect(fields.values("Sec-WebSocket-Protocol") == ["chat, superchat"])
        #expect(
            fields.values("X") == ["1"] && !fields.contains("Origin") && !fields.contains("Sec-WebSocket-Extensions"))
        let own = asked(WebSocketHandshake(nonce: Self.nonce), [("Sec-WebSocket-Protocol", "mine, yours")])
        #expect(own.webSocketProtocols == ["mine", "yours"])
        #expect(WebSocketHandshake.isProtocol("a.b/1") == false && WebSocketHandshake.isProtocol("a.b-1"))
    }

    @Test("B15.4: 101, Upgrade, Connection and the Accept value, in any spelling of their tokens")
    func success() {
        #expect(outcome(answer(Self.good)) == .success(.init()))
        #expect(
            outcome(
                answer([
                    ("connection", "keep-alive, UPGRADE"), ("UPGRADE", "WebSocket"),
                    ("sec-websocket-accept", Self.accept),
                ])) == .success(.init()))
    }

    @Test("B15.4: anything else opens nothing")
    func refusals() {
        for status in [200, 302, 401, 404, 426, 500] {
            #expect(outcome(answer(Self.good, status: status)) == .failure(.status(status)))
        }
        var old = answer(Self.good)
        old.version = .http10
        #expect(outcome(old) == .failure(.upgradeMissing))
        func without(_ name: String, _ value: String? = nil) -> ResponseHead {
            answer(Self.good.filter { $0.0 != name } + (value.map { [(name, $0)] } ?? []))
        }
        for value in [nil, "h2c", "web socket", "websockets", ""] {
            #expect(outcome(without("Upgrade", value)) == .failure(.upgradeMissing))
        }
        for value in [nil, "close", "keep-alive", ""] {
            #expect(outcome(without("Connection", value)) == .failure(.connectionMissing))
        }
        for value in [nil, "", Self.accept.lowercased(), "x" + Self.accept, Self.accept + ", x"] {
            #expect(outcome(without("Sec-WebSocket-Accept", value)) == .failure(.wrongAccept))
        }
        #expect(
            outcome(answer(Self.good + [("Sec-WebSocket-Accept", Self.accept)])) == .failure(.wrongAccept))
    }

    @Test("B15.4: a protocol that was offered, by the session or by the application, or none")
    func protocols() {
        let handshake = WebSocketHandshake(nonce: Self.nonce, protocols: ["chat", "superchat"])
        func chosen(_ values: [String]) -> ResponseHead {
            answer(Self.good + values.map { ("Sec-WebSocket-Protocol", $0) })
        }
        #expect(outcome(chosen([]), handshake) == .success(.init()))
        #expect(outcome(chosen(["superchat"]), handshake) == .success(.init(subprotocol: "superchat")))
        for values in [["Chat"], ["other"], [""], ["chat, superchat"], ["chat", "chat"], ["chat", "other"]] {
            #expect(outcome(chosen(values), handshake) == .failure(.unknownProtocol), "\(values)")
        }
        #expect(outcome(chosen(["chat"])) == .failure(.unknownProtocol))
        let own = [("Sec-WebSocket-Protocol", "mine, yours")]
        #expect(
            outcome(chosen(["yours"]), WebSocketHandshake(nonce: Self.nonce), own)
                == .success(.init(subprotocol: "yours")))
        // What is given by itself is what is offered.
        #expect(outcome(chosen(["yours"]), handshake, own) == .failure(.unknownProtocol))
    }

    @Test("B15.4: no extension that was not offered")
    func noExtensions() {
        for value in ["permessage-deflate", "x", "x; y=1", "permessage-deflate; ;", "\"x", "=", "x y"] {
            let head = answer(Self.good + [("Sec-WebSocket-Extensions", value)])
            #expect(outcome(head) == .failure(.unknownExtension), "\(value)")
        }
        // A list without members names nothing.
        #expect(outcome(answer(Self.good + [("Sec-WebSocket-Extensions", " , ")])) == .success(.init()))
    }

    // MARK: Extensions

    private func elements(_ text: String) -> [String]? {
        var fields = Fields()
        fields.append("Sec-WebSocket-Extensions", text)
        return fields.webSocketExtensions?.map(\.text)
    }

    @Test("R6455 §9.1: the grammar of extensions")
    func grammar() {
        #expect(elements("") == [])
        #expect(elements("a") == ["a"])
        #expect(elements("a, b; c; d=1 ; e=\"f\",,g") == ["a", "b; c; d=1; e=f", "g"])
        #expect(elements("a ;b = 1") == ["a; b=1"])
        for text in [
            "a b", "a;", "a;;b", ";a", "a=1", "a; =1", "a; b=", "a; b=\"\"", "a; b=\"c d\"", "a; b=\"c", "a; b=c\"",
            "a; b=\"c\\d\"", "a; b=\"", "ä", "a; b=1=2",
        ] { #expect(elements(text) == nil, "\(text)") }
        #expect(elements(Array(repeating: "a", count: 33).joined(separator: ",")) == nil)
        #expect(elements("a" + String(repeating: ";b", count: 33)) == nil)
    }

    private func parameters(_ text: String) -> DeflateParameters? {
        var fields = Fields()
        fields.append("Sec-WebSocket-Extensions", text)
        return fields.webSocketExtensions?.first.flatMap { DeflateParameters($0) }
    }

    @Test("R7692 §7.1: parameters, and what makes an element useless")
    func parameters() {
        #expect(parameters("permessage-deflate") == DeflateParameters())
        let all = DeflateParameters(
            serverForgets: true, clientForgets: true, serverWindowBits: 10, clientWindow: .atMost(8))
        #expect(
            parameters(
                "permessage-deflate; client_max_window_bits=8; server_max_window_bits=\"10\"; "
                    + "server_no_context_takeover; client_no_context_takeover") == all)
        #expect(DeflateParameters(all.element) == all)
        #expect(
            all.element.text
                == "permessage-deflate; server_no_context_takeover; client_no_context_takeover; "
                + "server_max_window_bits=10; client_max_window_bits=8")
        let changeable = DeflateParameters(clientWindow: .changeable)
        #expect(parameters("permessage-deflate; client_max_window_bits") == changeable)
        #expect(DeflateParameters(changeable.element) == changeable)
        for text in [
            "Permessage-Deflate", "x-webkit-deflate-frame", "permessage-deflate; x", "permessage-deflate; x=1",
            "permessage-deflate; server_no_context_takeover=1", "permessage-deflate; client_no_context_takeover=true",
            "permessage-deflate; server_max_window_bits", "permessage-deflate; server_max_window_bits=7",
            "permessage-deflate; server_max_window_bits=16", "permessage-deflate; server_max_window_bits=010",
            "permessage-deflate; server_max_window_bits=+9", "permessage-deflate; client_max_window_bits=0",
            "permessage-deflate; client_max_window_bits=99999999999999999999",
            "permessage-deflate; client_no_context_takeover; client_no_context_takeover",
            "permessage-deflate; server_max_window_bits=9; server_max_window_bits=9",
        ] { #expect(parameters(text) == nil, "\(text)") }
    }

    @Test("R7692 §7.1: which answers are answers to which offers")
    func answers() {
        func agreed(_ offer: DeflateParameters, _ answer: String) -> DeflateAgreement? {
            let handshake = WebSocketHandshake(nonce: Self.nonce, compression: offer)
            let head = self.answer(Self.good + [("Sec-WebSocket-Extensions", answer)])
            guard case .success(let agreement) = outcome(head, handshake) else { return nil }
            return agreement.compression
        }
        let plain = DeflateParameters()
        #expect(agreed(plain, "permessage-deflate") == DeflateAgreement())
        #expect(
            agreed(plain, "permessage-deflate; server_no_context_takeover; client_no_context_takeover")
                == DeflateAgreement(
                    fromClient: DeflateDirection(keepsContext: false), fromServer: DeflateDirection(keepsContext: false)
                ))
        #expect(
            agreed(plain, "permessage-deflate; server_max_window_bits=12")
                == DeflateAgreement(fromServer: DeflateDirection(windowBits: 12)))
        #expect(agreed(plain, "permessage-deflate; client_max_window_bits=12") == nil)
        #expect(agreed(plain, "permessage-deflate, permessage-deflate") == nil)
        #expect(agreed(plain, "permessage-deflate, x") == nil)
        #expect(agreed(plain, "permessage-deflate; x") == nil)

        let wishes = DeflateParameters(
            serverForgets: true, clientForgets: true, serverWindowBits: 11, clientWindow: .atMost(12))
        #expect(agreed(wishes, "permessage-deflate") == nil)
        #expect(agreed(wishes, "permessage-deflate; server_no_context_takeover") == nil)
        #expect(agreed(wishes, "permessage-deflate; server_no_context_takeover; server_max_window_bits=12") == nil)
        let granted = "permessage-deflate; server_no_context_takeover; server_max_window_bits=10"
        let fromServer = DeflateDirection(keepsContext: false, windowBits: 10)
        #expect(
            agreed(wishes, granted)
                == DeflateAgreement(
                    fromClient: DeflateDirection(keepsContext: false, windowBits: 12), fromServer: fromServer))
        #expect(
            agreed(wishes, granted + "; client_max_window_bits=8")
                == DeflateAgreement(
                    fromClient: DeflateDirection(keepsContext: false, windowBits: 8), fromServer: fromServer))
        #expect(agreed(wishes, granted + "; client_max_window_bits=13") == nil)
        #expect(agreed(wishes, granted + "; client_max_window_bits") == nil)
        let changeable = DeflateParameters(clientWindow: .changeable)
        #expect(
            agreed(changeable, "permessage-deflate; client_max_window_bits=9")
                == DeflateAgreement(fromClient: DeflateDirection(windowBits: 9)))
        #expect(agreed(changeable, "permessage-deflate") == DeflateAgreement())
    }

    // MARK: The server's side

    private func request(_ changes: [(String, String?)] = [], method: String = "GET") -> RequestHead {
        var head = RequestHead(method: method, target: "/", fields: asked(WebSocketHandshake(nonce: Self.nonce)))
        for (name, value) in changes {
            if let value { head.fields.replace(name, with: value) } else { head.fields.removeAll(name) }
        }
        return head
    }

    @Test("R6455 §4.2: both ends of a handshake understand each other, under every offer of compression")
    func bothEnds() throws {
        let offers: [DeflateParameters?] =
            [nil]
            + [false, true].flatMap { server in
                [false, true].flatMap { client in
                    [nil, 8, 15].flatMap { bits in
                        [.unchangeable, .changeable, .atMost(8), .atMost(15)].map { window in
                            DeflateParameters(
                                serverForgets: server, clientForgets: client, serverWindowBits: bits,
                                clientWindow: window)
                        }
                    }
                }
            }
        for offer in offers {
            let handshake = WebSocketHandshake(nonce: Self.nonce, protocols: ["a", "b"], compression: offer)
            let fields = asked(handshake)
            let head = RequestHead(method: "GET", target: "/", fields: fields)
            let acceptance = try #require(WebSocketAcceptance(head, protocols: ["b", "a"], compresses: true))
            let agreement = try handshake.agreement(with: acceptance.answer, asked: fields)
            #expect(agreement == acceptance.agreement)
            #expect(agreement.subprotocol == "b" && (agreement.compression != nil) == (offer != nil))
        }
    }

    @Test("R6455 §4.2.1: what does not ask for a web socket is not answered as if it did")
    func notAsked() {
        #expect(WebSocketAcceptance(request()) != nil)
        #expect(WebSocketAcceptance(request(method: "POST")) == nil)
        for change: (String, String?) in [
            ("Upgrade", nil), ("Upgrade", "h2c"), ("Connection", nil), ("Connection", "close"),
            ("Sec-WebSocket-Key", nil), ("Sec-WebSocket-Key", "abc"), ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25j"),
            ("Sec-WebSocket-Version", nil), ("Sec-WebSocket-Version", "12"), ("Sec-WebSocket-Extensions", "a b"),
        ] { #expect(WebSocketAcceptance(request([change])) == nil, "\(change)") }
    }

    @Test("R7692 §5.1: of several offers the first is taken that can be; a server that does not compress takes none")
    func offers() {
        let head = request([
            ("Sec-WebSocket-Extensions", "x, permessage-deflate; y, permessage-deflate; client_no_context_takeover")
        ])
        let acceptance = WebSocketAcceptance(head, compresses: true)
        #expect(
            acceptance?.answer.fields.first("Sec-WebSocket-Extensions")
                == "permessage-deflate; client_no_context_takeover")
        let silent = WebSocketAcceptance(head)
        #expect(silent?.agreement == .init() && silent?.answer.fields.contains("Sec-WebSocket-Extensions") == false)
    }
}
