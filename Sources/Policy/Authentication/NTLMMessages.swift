// The three messages of NTLM: what we can do, the server's challenge, our answer. MS-NLMP §2.2.1; behaviour B2.93,
// B2.94. Nothing is signed or sealed over HTTP, so no session key is exchanged; Unicode and version 2 only. The values
// in the answer are computed by `NTLMv2Response`.

/// Makes and reads NTLM's messages.
enum NTLM {
    /// The first message: what we can do. It is the same for all servers.
    static let negotiateMessage: [UInt8] = {
        var message = signature
        message.append(littleEndian: UInt32(1))
        message.append(littleEndian: Flags.offered)
        // No domain and no workstation: servers need not know this machine's name.
        message += [UInt8](repeating: 0, count: 16)
        return message
    }()

    /// The third message; nil for a credential that fits into none.
    static func authenticateMessage(
        _ challenge: NTLMChallenge, credential: PasswordCredential, host: String, freshness: AuthenticationFreshness
    ) -> [UInt8]? {
        let name = NTLMName(credential.user)
        let target = challenge.targetInfo.answered(forService: "HTTP/\(host)")
        guard let info = target.bytes else { return nil }
        let response = NTLMv2Response(
            key: NTLMv2Response.key(name: name, password: credential.password),
            serverChallenge: challenge.nonce, clientChallenge: clientChallenge(freshness),
            time: challenge.targetInfo.timestamp ?? freshness.fileTime, targetInfo: info)

        // MS-NLMP §3.1.5.1.2: a server that tells the time gets no LM response, but a code over all three messages.
        let hasCode = challenge.targetInfo.timestamp != nil
        let parts: [[UInt8]] = [
            hasCode ? [UInt8](repeating: 0, count: 24) : response.lanManager, response.proof,
            name.domain.utf16Bytes, name.user.utf16Bytes, [], [],
        ]
        guard parts.allSatisfy({ $0.count <= Int(UInt16.max) }) else { return nil }
        // Order in the payload: domain, user, workstation, both responses, session key.
        var places = [Int](repeating: 0, count: parts.count)
        var payload: [UInt8] = []
        let headerLength = hasCode ? 88 : 72
        for part in [2, 3, 4, 0, 1, 5] {
            places[part] = headerLength + payload.count
            payload += parts[part]
        }

        var message = signature
        message.append(littleEndian: UInt32(3))
        for (part, place) in zip(parts, places) {
            message.append(littleEndian: UInt16(part.count))
            message.append(littleEndian: UInt16(part.count))
            message.append(littleEndian: UInt32(place))
        }
        message.append(littleEndian: challenge.flags & Flags.answered)
        // The version, which we do not tell.
        message += [UInt8](repeating: 0, count: 8)
        guard hasCode else { return message + payload }
        let code = HMACMD5.code(
            negotiateMessage + challenge.message + message + [UInt8](repeating: 0, count: 16) + payload,
            key: response.sessionBaseKey)
        return message + code + payload
    }

    private static func clientChallenge(_ freshness: AuthenticationFreshness) -> [UInt8] {
        let bytes = freshness.bytes.prefix(8)
        return bytes + [UInt8](repeating: 0, count: 8 - bytes.count)
    }

    static let signature: [UInt8] = Array("NTLMSSP\0".utf8)

    /// MS-NLMP §2.2.2.5.
    enum Flags {
        static let unicode: UInt32 = 0x0000_0001
        static let requestTarget: UInt32 = 0x0000_0004
        static let ntlm: UInt32 = 0x0000_0200
        static let alwaysSign: UInt32 = 0x0000_8000
        static let extendedSessionSecurity: UInt32 = 0x0008_0000
        static let targetInfo: UInt32 = 0x0080_0000

        static let offered = unicode | requestTarget | ntlm | alwaysSign | extendedSessionSecurity
        static let answered = offered | targetInfo
    }
}

/// The second message, as a server sent it.
struct NTLMChallenge: Sendable {
    /// All of it: the code in our answer covers it.
    let message: [UInt8]
    let flags: UInt32
    let nonce: [UInt8]
    let targetInfo: NTLMTargetInfo

    /// Reads a message; nil for one that is malformed or wants something that is not spoken here.
    init?(_ message: [UInt8]) {
        guard message.starts(with: NTLM.signature), message.number(at: 8, bytes: 4) == 2,
            let flags = message.number(at: 20, bytes: 4), let nonce = message.part(24, length: 8),
            UInt32(flags) & NTLM.Flags.unicode != 0
        else { return nil }
        var info: [UInt8] = []
        if UInt32(flags) & NTLM.Flags.targetInfo != 0 {
            guard let length = message.number(at: 40, bytes: 2), let place = message.number(at: 44, bytes: 4),
                let bytes = message.part(place, length: length)
            else { return nil }
            info = bytes
        }
        guard let targetInfo = NTLMTargetInfo(info) else { return nil }
        self.message = message
        self.flags = UInt32(flags)
        self.nonce = nonce
        self.targetInfo = targetInfo
    }
}

/// What a server tells about itself: a list of numbered values (MS-NLMP §2.2.2.1).
struct NTLMTargetInfo: Sendable, Equatable {
    private struct Value: Sendable, Equatable {
        let number: Int
        let bytes: [UInt8]
    }

    private var values: [Value] = []

    /// Reads a list, which ends with number 0 or where the bytes do; nil when a value is cut off.
    init?(_ bytes: [UInt8]) {
        var place = 0
        while place < bytes.count {
            guard let number = bytes.number(at: place, bytes: 2), let length = bytes.number(at: place + 2, bytes: 2),
                let value = bytes.part(place + 4, length: length)
            else { return nil }
            if number == Number.end { return }
            values.append(Value(number: number, bytes: value))
            place += 4 + length
        }
    }

    /// The server's time.
    var timestamp: UInt64? {
        guard let bytes = values.first(where: { $0.number == Number.timestamp })?.bytes, bytes.count == 8
        else { return nil }
        return bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The list as it goes back: to a server that tells the time, with the announcement of a code over the messages, no
    /// channel bindings, and the name of the service that is asked for (MS-NLMP §3.1.5.1.2).
    func answered(forService name: String) -> NTLMTargetInfo {
        guard timestamp != nil else { return self }
        var answer = self
        let added = [Number.flags, Number.channelBindings, Number.targetName]
        let flags = values.first { $0.number == Number.flags }?.bytes.number(at: 0, bytes: 4) ?? 0
        answer.values.removeAll { added.contains($0.number) }
        var flagBytes: [UInt8] = []
        flagBytes.append(littleEndian: UInt32(flags) | 2)
        answer.values += [
            Value(number: Number.flags, bytes: flagBytes),
            Value(number: Number.channelBindings, bytes: [UInt8](repeating: 0, count: 16)),
            Value(number: Number.targetName, bytes: name.utf16Bytes),
        ]
        return answer
    }

    /// The list as bytes, with its end; nil when a value is too long for one.
    var bytes: [UInt8]? {
        var bytes: [UInt8] = []
        for value in values {
            guard let length = UInt16(exactly: value.bytes.count) else { return nil }
            bytes.append(littleEndian: UInt16(truncatingIfNeeded: value.number))
            bytes.append(littleEndian: length)
            bytes += value.bytes
        }
        return bytes + [0, 0, 0, 0]
    }

    private enum Number {
        static let end = 0
        static let flags = 6
        static let timestamp = 7
        static let targetName = 9
        static let channelBindings = 10
    }
}

extension [UInt8] {
    /// Some bytes; nil where they do not lie in this array.
    fileprivate func part(_ start: Int, length: Int) -> [UInt8]? {
        guard start >= 0, length >= 0, start <= count, length <= count - start else { return nil }
        return Array(self[start..<start + length])
    }

    /// A number of up to four bytes, the lowest first; nil where it does not lie in this array.
    fileprivate func number(at place: Int, bytes: Int) -> Int? {
        part(place, length: bytes)?.reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
