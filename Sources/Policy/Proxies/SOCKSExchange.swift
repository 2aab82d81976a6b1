// What a client and a SOCKS proxy say to each other until a tunnel stands, as bytes in and bytes out. It takes no byte
// more than the proxy's answers have: what follows them belongs to the tunnel (B13.29). SOCKS4 and 4A, RFC 1928, RFC
// 1929; B13.22 to B13.25.
//
// Must not know: streams, how names are looked up, where the credentials are from.

/// One conversation with a SOCKS proxy about one tunnel.
package struct SOCKSExchange: Sendable {
    /// Where the tunnel is to go.
    package enum Target: Sendable, Hashable {
        /// An address of 4 or 16 bytes in network order.
        case address([UInt8])
        /// A name that the proxy looks up.
        case name(String)
    }

    /// What comes next.
    package enum Step: Sendable, Equatable {
        /// All bytes were used, and more are needed.
        case needMore
        /// These bytes are to be sent.
        case send([UInt8])
        /// The tunnel stands.
        case open
        /// There will be none.
        case failed(SOCKSFailure)
    }

    private enum Phase {
        case beginning
        case choosingMethod
        case checkingPassword
        case reply4
        case reply5
        case over(Step)
    }

    private let isVersion5: Bool
    private let target: Target
    private let port: UInt16
    private let credentials: ProxyCredentials?
    private var phase = Phase.beginning
    /// Whether the proxy has looked at the password, and found it right.
    package private(set) var hasCheckedPassword = false
    /// The part of the present answer that has come.
    private var answer: [UInt8] = []

    /// A conversation in SOCKS5 or SOCKS4; names make SOCKS4A of the latter, which knows the credentials' user only.
    package init(isVersion5: Bool, target: Target, port: Int, credentials: ProxyCredentials?) {
        self.isVersion5 = isVersion5
        self.target = target
        self.port = UInt16(truncatingIfNeeded: port)
        self.credentials = credentials
    }

    /// Begins: the answer is something to send, or that it cannot be.
    package mutating func start() -> Step {
        guard case .beginning = phase else { return .needMore }
        do throws(SOCKSFailure) {
            if isVersion5 {
                if let credentials { try Self.check(credentials) }
                phase = .choosingMethod
                // B13.24: a password is only offered where there is one.
                return .send(credentials == nil ? [5, 1, Self.noAuthentication] : [5, 2, 0, Self.password])
            }
            let request = try request4()
            phase = .reply4
            return .send(request)
        } catch {
            return over(.failed(error))
        }
    }

    /// Takes from `bytes` what belongs to the proxy's present answer, and moves `offset` behind it.
    ///
    /// Call again after `send`: more may have come already.
    package mutating func next(_ bytes: UnsafeRawBufferPointer, offset: inout Int) -> Step {
        while true {
            if case .over(let step) = phase { return step }
            while answer.count < neededCount {
                guard offset < bytes.count else { return .needMore }
                answer.append(bytes[offset])
                offset += 1
                // What is wrong is told at its first byte: a proxy that says no often says nothing else.
                if let failure = fault { return over(.failed(failure)) }
            }
            do throws(SOCKSFailure) {
                return try answered()
            } catch {
                return over(.failed(error))
            }
        }
    }

    // MARK: Answers

    /// How long the present answer is, as far as is known yet.
    private var neededCount: Int {
        switch phase {
        case .beginning, .over: return 0
        case .choosingMethod, .checkingPassword: return 2
        case .reply4: return 8
        case .reply5:
            guard answer.count > 4 else { return 5 }
            switch answer[3] {
            case Self.ipv4: return 4 + 4 + 2
            case Self.ipv6: return 4 + 16 + 2
            default: return 4 + 1 + Int(answer[4]) + 2
            }
        }
    }

    /// What is wrong with the part of the answer that has come.
    private var fault: SOCKSFailure? {
        guard let latest = answer.last else { return nil }
        switch (phase, answer.count) {
        case (.choosingMethod, 1), (.reply5, 1): return latest == 5 ? nil : .malformed
        case (.reply4, 1): return latest == 0 ? nil : .malformed
        case (.reply4, 2): return Self.failure4(latest)
        case (.reply5, 2): return latest == 0 ? nil : .reply(latest)
        case (.reply5, 4): return [Self.ipv4, Self.name, Self.ipv6].contains(latest) ? nil : .malformed
        default: return nil
        }
    }

    /// The present answer is complete.
    private mutating func answered() throws(SOCKSFailure) -> Step {
        let answer = answer
        self.answer = []
        switch phase {
        case .choosingMethod:
            switch answer[1] {
            case Self.noAuthentication:
                return try sendRequest5()
            case Self.password:
                // Chosen although it was not offered: nothing else would do.
                guard let credentials else { throw .noAcceptableMethod }
                phase = .checkingPassword
                return .send(Self.passwordMessage(credentials))
            case 0xFF: throw .noAcceptableMethod
            default: throw .malformed
            }
        case .checkingPassword:
            // The version is not looked at: some proxies repeat that of SOCKS in place of RFC 1929's.
            guard answer[1] == 0 else { throw .badCredentials }
            hasCheckedPassword = true
            return try sendRequest5()
        case .reply4, .reply5:
            return over(.open)
        case .beginning, .over:
            return .needMore
        }
    }

    private mutating func over(_ step: Step) -> Step {
        phase = .over(step)
        return step
    }

    /// B13.22.
    private static func failure4(_ code: UInt8) -> SOCKSFailure? {
        switch code {
        case 90: nil
        case 92: .identUnreachable
        case 93: .identMismatch
        default: .rejected(code: code)
        }
    }

    // MARK: Messages

    private func request4() throws(SOCKSFailure) -> [UInt8] {
        let user = Array((credentials?.user ?? "").utf8)
        guard user.count <= 255, !user.contains(0) else { throw .unsendableCredentials }
        var message: [UInt8] = [4, Self.connect] + portBytes
        switch target {
        case .address(let address):
            guard address.count == 4 else { throw .unsendableTarget }
            message += address + user + [0]
        case .name(let name):
            // B13.23: an address that cannot be one says that a name follows.
            let bytes = try Self.bytes(of: name)
            message += [0, 0, 0, 1] + user + [0] + bytes + [0]
        }
        return message
    }

    private mutating func sendRequest5() throws(SOCKSFailure) -> Step {
        var message: [UInt8] = [5, Self.connect, 0]
        switch target {
        case .address(let address):
            guard address.count == 4 || address.count == 16 else { throw .unsendableTarget }
            message += [address.count == 4 ? Self.ipv4 : Self.ipv6] + address
        case .name(let name):
            let bytes = try Self.bytes(of: name)
            message += [Self.name, UInt8(truncatingIfNeeded: bytes.count)] + bytes
        }
        phase = .reply5
        return .send(message + portBytes)
    }

    private var portBytes: [UInt8] { [UInt8(port >> 8), UInt8(port & 0xFF)] }

    private static func bytes(of name: String) throws(SOCKSFailure) -> [UInt8] {
        let bytes = Array(name.utf8)
        guard (1...255).contains(bytes.count), !bytes.contains(0) else { throw .unsendableTarget }
        return bytes
    }

    private static func check(_ credentials: ProxyCredentials) throws(SOCKSFailure) {
        guard (1...255).contains(credentials.user.utf8.count), (1...255).contains(credentials.password.utf8.count)
        else { throw .unsendableCredentials }
    }

    private static func passwordMessage(_ credentials: ProxyCredentials) -> [UInt8] {
        let (user, password) = (Array(credentials.user.utf8), Array(credentials.password.utf8))
        return [1, UInt8(truncatingIfNeeded: user.count)] + user + [UInt8(truncatingIfNeeded: password.count)]
            + password
    }

    private static let connect: UInt8 = 1
    private static let noAuthentication: UInt8 = 0
    private static let password: UInt8 = 2
    private static let ipv4: UInt8 = 1
    private static let name: UInt8 = 3
    private static let ipv6: UInt8 = 4
}
