// The handshake of a web socket: the fields that ask for one, and whether an answer is the answer to them. Behaviour
// B15.2 to B15.5. Random bytes are given in. It must not know URLs, cookies, redirects or which delegate is asked for a
// password. RFC 6455 §4.1.

/// What a client asks for.
package struct WebSocketHandshake: Sendable {
    /// What came of it.
    package struct Agreement: Sendable, Equatable {
        /// The protocol that the server has chosen of those offered (B15.8).
        package var subprotocol: String?
        /// How messages are compressed, nil where they are not.
        package var compression: DeflateAgreement?

        /// Makes an agreement.
        package init(subprotocol: String? = nil, compression: DeflateAgreement? = nil) {
            self.subprotocol = subprotocol
            self.compression = compression
        }
    }

    /// Why an answer opens no web socket.
    package enum Refusal: Error, Sendable, Equatable {
        /// Another status than 101.
        case status(Int)
        /// No Upgrade field that names web sockets.
        case upgradeMissing
        /// No Connection field that names Upgrade.
        case connectionMissing
        /// No Sec-WebSocket-Accept, several, or another value.
        case wrongAccept
        /// A protocol that was not offered, or several.
        case unknownProtocol
        /// An extension that was not offered, or an answer to it that is none.
        case unknownExtension
    }

    /// How many random bytes a key is made of.
    package static let nonceByteCount = 16

    private let key: String
    private let protocols: [String]
    private let compression: DeflateParameters?

    /// Makes a handshake of sixteen bytes that cannot be foreseen; new ones for every attempt.
    ///
    /// `compression` is what is offered, nil for nothing (B15.10).
    package init(nonce: [UInt8], protocols: [String] = [], compression: DeflateParameters? = nil) {
        key = Base64.encode(nonce)
        self.protocols = protocols
        self.compression = compression
    }

    /// Whether a protocol may be offered: a token (RFC 6455 §4.1, item 10).
    package static func isProtocol(_ name: String) -> Bool { Tokens.isToken(name) }

    // MARK: Asking

    /// Adds what asks for a web socket to a request's fields, and takes out what would contradict it (B15.2).
    ///
    /// Protocols that the application has put into the fields itself stay where none were given otherwise (B15.3).
    package func ask(in fields: inout Fields) {
        fields.replace(.upgrade, with: "websocket")
        fields.replace(.connection, with: "Upgrade")
        fields.replace(.secWebSocketKey, with: key)
        fields.replace(.secWebSocketVersion, with: "13")
        if !protocols.isEmpty { fields.replace(.secWebSocketProtocol, with: protocols.joined(separator: ", ")) }
        if let compression {
            fields.replace(.secWebSocketExtensions, with: compression.element.text)
        } else {
            // What is not understood here cannot be offered by the application either.
            fields.removeAll(.secWebSocketExtensions)
        }
    }

    // MARK: The answer

    /// What an answer to a request with these fields agrees to; throws if it opens no web socket (B15.4).
    package func agreement(with answer: ResponseHead, asked: Fields) throws(Refusal) -> Agreement {
        guard answer.status == 101 else { throw .status(answer.status) }
        // RFC 9110 §7.8: in HTTP/1.0 the field means nothing, and such an answer is from something between
        // that will pass no frames.
        guard answer.version.persistsByDefault else { throw .upgradeMissing }
        guard answer.fields.hasToken(.upgrade, "websocket") else { throw .upgradeMissing }
        guard answer.fields.hasToken(.connection, "upgrade") else { throw .connectionMissing }
        guard answer.fields.values(.secWebSocketAccept) == [Self.accept(key: key)] else { throw .wrongAccept }
        return Agreement(
            subprotocol: try subprotocol(answer.fields, asked), compression: try compression(answer.fields))
    }

    /// What proves that a server has read the key (RFC 6455 §4.2.2, item 5.4).
    package static func accept(key: String) -> String {
        Base64.encode(SHA1.hash(Array(key.utf8) + Array("258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8)))
    }

    private func subprotocol(_ fields: Fields, _ asked: Fields) throws(Refusal) -> String? {
        let answers = fields.values(.secWebSocketProtocol)
        guard let answer = answers.first else { return nil }
        guard answers.count == 1, asked.webSocketProtocols.contains(answer) else { throw .unknownProtocol }
        return answer
    }

    private func compression(_ fields: Fields) throws(Refusal) -> DeflateAgreement? {
        guard let elements = fields.webSocketExtensions else { throw .unknownExtension }
        guard let element = elements.first else { return nil }
        guard elements.count == 1, let compression, let answer = DeflateParameters(element),
            let agreement = compression.agreement(answer: answer)
        else { throw .unknownExtension }
        return agreement
    }
}

extension Fields {
    /// The protocols that are named, in their order; what is no token is left out.
    package var webSocketProtocols: [String] {
        var names: [String] = []
        forEachValue(.secWebSocketProtocol) { value in
            var members = ListMembers(value)
            while let member = members.next() {
                if Tokens.isToken(member) { names.append(member.text) }
            }
        }
        return names
    }

    /// The extensions that are named, in their order; nil where one of the fields follows no grammar.
    package var webSocketExtensions: [WebSocketExtension]? {
        var elements: [WebSocketExtension]? = []
        forEachValue(.secWebSocketExtensions) { value in
            guard let more = WebSocketExtension.elements(of: value) else {
                elements = nil
                return
            }
            elements?.append(contentsOf: more)
        }
        return elements
    }
}
