// permessage-deflate as both sides agree on it: what a client offers, what a server makes of it, and whether its answer
// is one to that offer (RFC 7692 §5, §7.1). To compress takes no more than the two directions that come of it.

/// How one direction is compressed.
package struct DeflateDirection: Sendable, Equatable {
    /// Whether a message may refer to those before it.
    package var keepsContext: Bool
    /// How far back the compressor looks, as a power of two: 8 to 15.
    package var windowBits: Int

    /// Makes a direction; as RFC 7692 has it where nothing was said.
    package init(keepsContext: Bool = true, windowBits: Int = 15) {
        self.keepsContext = keepsContext
        self.windowBits = windowBits
    }
}

/// What was agreed on.
package struct DeflateAgreement: Sendable, Equatable {
    /// The messages from the client to the server.
    package var fromClient: DeflateDirection
    /// The messages from the server to the client.
    package var fromServer: DeflateDirection

    /// Makes an agreement.
    package init(fromClient: DeflateDirection = DeflateDirection(), fromServer: DeflateDirection = DeflateDirection()) {
        self.fromClient = fromClient
        self.fromServer = fromServer
    }

    /// The direction of what that end receives.
    package func received(by role: WebSocketRole) -> DeflateDirection { role == .client ? fromServer : fromClient }

    /// The direction of what that end sends.
    package func sent(by role: WebSocketRole) -> DeflateDirection { role == .client ? fromClient : fromServer }
}

/// The parameters of one offer or of the answer to it.
package struct DeflateParameters: Sendable, Equatable {
    /// The client's largest window in an offer: it may be told, and the client may say how large it is.
    package enum ClientWindow: Sendable, Equatable {
        /// The client cannot be told how far to look back.
        case unchangeable
        /// It can, and has no limit of its own.
        case changeable
        /// So far at most.
        case atMost(Int)
    }

    /// Whether the server compresses each message by itself.
    package var serverForgets = false
    /// Whether the client compresses each message by itself.
    package var clientForgets = false
    /// The server's largest window.
    package var serverWindowBits: Int?
    /// The client's largest window.
    package var clientWindow = ClientWindow.unchangeable

    /// Makes parameters without wishes.
    package init(
        serverForgets: Bool = false, clientForgets: Bool = false, serverWindowBits: Int? = nil,
        clientWindow: ClientWindow = .unchangeable
    ) {
        self.serverForgets = serverForgets
        self.clientForgets = clientForgets
        self.serverWindowBits = serverWindowBits
        self.clientWindow = clientWindow
    }

    /// Reads an element of Sec-WebSocket-Extensions; nil where it is another extension, or a parameter is not known,
    /// comes twice or has a value it cannot have (RFC 7692 §7.1).
    package init?(_ element: WebSocketExtension) {
        guard element.name == Self.name else { return nil }
        var seen: Set<String> = []
        for parameter in element.parameters {
            guard seen.insert(parameter.name).inserted else { return nil }
            switch (parameter.name, parameter.value) {
            case ("server_no_context_takeover", nil): serverForgets = true
            case ("client_no_context_takeover", nil): clientForgets = true
            case ("server_max_window_bits", let value?):
                guard let bits = Self.windowBits(value) else { return nil }
                serverWindowBits = bits
            case ("client_max_window_bits", nil): clientWindow = .changeable
            case ("client_max_window_bits", let value?):
                guard let bits = Self.windowBits(value) else { return nil }
                clientWindow = .atMost(bits)
            default: return nil
            }
        }
    }

    /// The element as it is sent.
    package var element: WebSocketExtension {
        var element = WebSocketExtension(name: Self.name)
        if serverForgets { element.parameters.append(.init(name: "server_no_context_takeover")) }
        if clientForgets { element.parameters.append(.init(name: "client_no_context_takeover")) }
        if let serverWindowBits {
            element.parameters.append(.init(name: "server_max_window_bits", value: String(serverWindowBits)))
        }
        switch clientWindow {
        case .unchangeable: break
        case .changeable: element.parameters.append(.init(name: "client_max_window_bits"))
        case .atMost(let bits):
            element.parameters.append(.init(name: "client_max_window_bits", value: String(bits)))
        }
        return element
    }

    /// A server's answer to these parameters as an offer, and what is then agreed on.
    ///
    /// It takes what it is asked for and asks for nothing itself.
    package func answered() -> (answer: DeflateParameters, agreement: DeflateAgreement) {
        var answer = self
        var fromClient = DeflateDirection(keepsContext: !clientForgets)
        switch clientWindow {
        case .unchangeable: break
        case .changeable: answer.clientWindow = .unchangeable
        case .atMost(let bits): fromClient.windowBits = bits
        }
        let fromServer = DeflateDirection(keepsContext: !serverForgets, windowBits: serverWindowBits ?? 15)
        return (answer, DeflateAgreement(fromClient: fromClient, fromServer: fromServer))
    }

    /// What is agreed on if these parameters were offered and that is the answer; nil if it cannot be one.
    package func agreement(answer: DeflateParameters) -> DeflateAgreement? {
        // RFC 7692 §7.1.1.1, §7.1.2.1: what the client asks the server for is granted or the whole is declined.
        if serverForgets, !answer.serverForgets { return nil }
        let serverBits = answer.serverWindowBits ?? 15
        if let serverWindowBits, serverBits > serverWindowBits { return nil }
        // A client may forget without having been told to.
        var fromClient = DeflateDirection(keepsContext: !answer.clientForgets && !clientForgets)
        switch (clientWindow, answer.clientWindow) {
        case (_, .changeable), (.unchangeable, .atMost): return nil
        case (.changeable, .unchangeable), (.unchangeable, .unchangeable): break
        case (.atMost(let bits), .unchangeable): fromClient.windowBits = bits
        case (.changeable, .atMost(let told)): fromClient.windowBits = told
        case (.atMost(let bits), .atMost(let told)):
            guard told <= bits else { return nil }
            fromClient.windowBits = told
        }
        let fromServer = DeflateDirection(keepsContext: !answer.serverForgets, windowBits: serverBits)
        return DeflateAgreement(fromClient: fromClient, fromServer: fromServer)
    }

    /// A decimal number from 8 to 15 without leading zeros (RFC 7692 §7.1.2).
    private static func windowBits(_ text: String) -> Int? {
        guard !text.hasPrefix("0"), text.utf8.allSatisfy(ASCII.isDigit), let bits = Int(text), 8...15 ~= bits
        else { return nil }
        return bits
    }

    private static var name: String { "permessage-deflate" }
}
