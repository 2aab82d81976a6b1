// NTLM by the published values of MS-NLMP §4.2.4, its messages taken apart, and bytes that are not a challenge.

import Testing
import URLLoadingPolicy
import URLLoadingTestSupport
import URLLoadingWire

@Suite("NTLM")
struct NTLMTests {
    /// MS-NLMP §4.2.4.3: the server's message.
    private static let challenge = Hexadecimal.bytes(
        """
        4e544c4d53535000020000000c000c003800000033828ae20123456789abcdef000000000000000024002400440000000600701700
        00000f53006500720076006500720002000c0044006f006d00610069006e0001000c0053006500720076006500720000000000
        """)
    private static let targetInfo = Hexadecimal.bytes(
        "02000c0044006f006d00610069006e0001000c0053006500720076006500720000000000")
    private static let user = PasswordCredential(user: "Domain\\User", password: "Password")

    /// A server's message like the published one, with this list of values.
    private static func challenge(targetInfo: [UInt8], flags: [UInt8] = [0x33, 0x82, 0x8A, 0xE2]) -> [UInt8] {
        var message = Array(challenge.prefix(40))
        message.replaceSubrange(20..<24, with: flags)
        let length = [UInt8(targetInfo.count & 0xFF), UInt8(targetInfo.count >> 8)]
        message += length + length + [48, 0, 0, 0]
        return message + targetInfo
    }

    /// The third message for a challenge; nil where the challenge was not answered.
    private func answer(
        _ challenge: [UInt8], _ credential: PasswordCredential = NTLMTests.user, nonce: String = "qqqqqqqqqqo=",
        seconds: Int64 = -11_644_473_600
    ) throws -> AuthenticateMessage? {
        var rig = try AuthenticationRig()
        #expect(rig.refused("NTLM") == "ask ntlm - 0")
        #expect(rig.answered(.password(credential)) == "send ntlm")
        rig.freshness = AuthenticationFreshness(
            bytes: try #require(Base64.decode(nonce)), secondsSince1970: seconds)
        guard rig.refused("NTLM \(Base64.encode(challenge))") == "send ntlm" else { return nil }
        return try rig.parameters().token.flatMap(Base64.decode).map(AuthenticateMessage.init)
    }

    /// The third message in its parts (MS-NLMP §2.2.1.3).
    private struct AuthenticateMessage: Equatable {
        let bytes: [UInt8]

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        var lanManager: [UInt8] { part(12) }
        var proof: [UInt8] { part(20) }
        var domain: [UInt8] { part(28) }
        var user: [UInt8] { part(36) }
        var workstation: [UInt8] { part(44) }
        var sessionKey: [UInt8] { part(52) }
        var flags: Int { number(60, 4) }
        var code: ArraySlice<UInt8> { bytes[72..<88] }
        var withoutCode: [UInt8] { bytes[..<72] + [UInt8](repeating: 0, count: 16) + bytes[88...] }

        func number(_ place: Int, _ count: Int) -> Int {
            bytes[place..<place + count].reversed().reduce(0) { $0 << 8 | Int($1) }
        }

        private func part(_ place: Int) -> [UInt8] {
            let (start, length) = (number(place + 4, 4), number(place, 2))
            guard start + length <= bytes.count, length == number(place + 2, 2) else { return [0xFF] }
            return Array(bytes[start..<start + length])
        }
    }

    private func utf16(_ text: String) -> [UInt8] {
        text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    }

    // MARK: Published values

    @Test("MS-NLMP 4.2.4.1.1: NTOWFv2, whose user name is in capitals and whose domain is not")
    func key() {
        let expected = Hexadecimal.bytes("0c868a403bfd7a93a3001ef22ef02e3f")
        for name in ["Domain\\User", "Domain\\uSER", "User@Domain"] {
            #expect(NTLMv2Response.key(name: NTLMName(name), password: "Password") == expected, "\(name)")
        }
        #expect(NTLMv2Response.key(name: NTLMName("DOMAIN\\User"), password: "Password") != expected)
    }

    @Test("MS-NLMP 4.2.4.1.2, 4.2.4.2: session base key, LMv2 and NTLMv2 responses")
    func responses() {
        let response = NTLMv2Response(
            key: Hexadecimal.bytes("0c868a403bfd7a93a3001ef22ef02e3f"),
            serverChallenge: Hexadecimal.bytes("0123456789abcdef"),
            clientChallenge: [UInt8](repeating: 0xAA, count: 8), time: 0, targetInfo: Self.targetInfo)
        #expect(response.sessionBaseKey == Hexadecimal.bytes("8de40ccadbc14a82f15cb0ad0de95ca3"))
        #expect(response.lanManager == Hexadecimal.bytes("86c35097ac9cec102554764a57cccc19aaaaaaaaaaaaaaaa"))
        #expect(response.proof.prefix(16) == Hexadecimal.bytes("68cd0ab851e51c96aabc927bebef6a1c")[...])
        let covered = Hexadecimal.bytes("01010000000000000000000000000000aaaaaaaaaaaaaaaa00000000") + Self.targetInfo
        #expect(Array(response.proof.dropFirst(16)) == covered + [0, 0, 0, 0])
        #expect("\(response) \(NTLMName("Domain\\User"))" == "(NTLMv2Response) (NTLMName)")
    }

    @Test("MS-NLMP 4.2.4.3: the published challenge is answered by the published responses")
    func messages() throws {
        let message = try #require(try answer(Self.challenge))
        #expect(message.bytes.starts(with: Array("NTLMSSP\0".utf8) + [3, 0, 0, 0]))
        #expect(message.lanManager == Hexadecimal.bytes("86c35097ac9cec102554764a57cccc19aaaaaaaaaaaaaaaa"))
        #expect(message.proof.count == 84)
        #expect(message.proof.prefix(16) == Hexadecimal.bytes("68cd0ab851e51c96aabc927bebef6a1c")[...])
        #expect(message.domain == utf16("Domain"))
        #expect(message.user == utf16("User"))
        #expect(message.workstation.isEmpty && message.sessionKey.isEmpty)
        // Unicode, target, NTLM, always sign, extended security, target information: both sides have them.
        #expect(message.flags == 0x0088_8201)
    }

    @Test("B2.93: the first message offers Unicode and version 2 and names neither domain nor workstation")
    func offer() throws {
        var rig = try AuthenticationRig()
        #expect(rig.refused("NTLM", "Basic realm=x") == "ask ntlm - 0")
        #expect(rig.answered(.password(Self.user)) == "send ntlm")
        #expect(rig.sent?.bindsConnection == true)
        let message = try rig.parameters().token.flatMap(Base64.decode)
        #expect(message == Array("NTLMSSP\0".utf8) + [1, 0, 0, 0, 5, 0x82, 8, 0] + [UInt8](repeating: 0, count: 16))
    }

    // MARK: Servers that tell the time

    /// The published list with a time in it.
    private static let timed: [UInt8] =
        Array(targetInfo.dropLast(4)) + [7, 0, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8] + [0, 0, 0, 0]

    @Test("MS-NLMP 3.1.5.1.2: a server that tells the time gets it back, no LM response, and a code over all messages")
    func integrity() throws {
        let challenge = Self.challenge(targetInfo: Self.timed)
        let message = try #require(try answer(challenge))
        #expect(message.lanManager == [UInt8](repeating: 0, count: 24))
        #expect(message.proof[24..<32] == [1, 2, 3, 4, 5, 6, 7, 8])

        let key = NTLMv2Response.key(name: NTLMName("Domain\\User"), password: "Password")
        let sessionKey = HMACMD5.code(Array(message.proof.prefix(16)), key: key)
        var offer = Array("NTLMSSP\0".utf8) + [1, 0, 0, 0, 5, 0x82, 8, 0]
        offer += [UInt8](repeating: 0, count: 16)
        #expect(Array(message.code) == HMACMD5.code(offer + challenge + message.withoutCode, key: sessionKey))
    }

    @Test("MS-NLMP 3.1.5.1.2: to such a server the list goes back with the flag for the code, bindings and the service")
    func announcedCode() throws {
        let flags: [UInt8] = [6, 0, 4, 0, 1, 0, 0, 0]
        for info in [Self.timed, Array(Self.timed.dropLast(4)) + flags + [0, 0, 0, 0]] {
            let message = try #require(try answer(Self.challenge(targetInfo: info)))
            let service = utf16("HTTP/server.test")
            var added: [UInt8] = [6, 0, 4, 0, info == Self.timed ? 2 : 3, 0, 0, 0, 10, 0, 16, 0]
            added += [UInt8](repeating: 0, count: 16) + [9, 0, UInt8(service.count), 0]
            added += service
            let expected = Array(Self.timed.dropLast(4)) + added + [UInt8](repeating: 0, count: 8)
            #expect(Array(message.proof.dropFirst(44)) == expected)
        }
    }

    @Test("MS-NLMP 2.2.2.7: the time is this machine's where the server tells none")
    func ownTime() throws {
        let message = try #require(try answer(Self.challenge, seconds: 0))
        // 1970 as 100 ns since 1601: 0x019DB1DED53E8000.
        #expect(message.proof[24..<32] == [0x00, 0x80, 0x3E, 0xD5, 0xDE, 0xB1, 0x9D, 0x01])
        // However wrong this machine's clock is, the challenge is answered.
        for seconds in [Int64.min, .max, -1] { #expect(try answer(Self.challenge, seconds: seconds) != nil) }
    }

    // MARK: Names

    @Test(
        "B2.94: DOMAIN\\user and user@domain are split, other names have no domain",
        arguments: [
            ("DOM\\me", "me", "DOM"), ("me@dom.test", "me", "dom.test"), ("me", "me", ""),
            ("DOM\\me@x", "me@x", "DOM"), ("a@b@c", "a@b", "c"), ("\\me", "me", ""), ("DOM\\", "", "DOM"), ("", "", ""),
            ("Ärger\\Größe", "Größe", "Ärger"),
        ])
    func names(name: String, user: String, domain: String) throws {
        #expect(NTLMName(name) == NTLMName("\(domain)\\\(user)"))
        let message = try #require(try answer(Self.challenge, .init(user: name, password: "")))
        #expect(message.user == utf16(user))
        #expect(message.domain == utf16(domain))
    }

    @Test("MS-NLMP 3.3.2: capitals are those of single letters: ß stays, ÿ and ж do not")
    func capitals() {
        func key(_ user: String) -> [UInt8] { NTLMv2Response.key(name: NTLMName(user), password: "p") }
        #expect(key("straße") == key("STRAßE"))
        #expect(key("straße") != key("STRASSE"))
        #expect(key("ÿж") == key("ŸЖ"))
    }

    @Test("MS-NLMP 2.2.1.3: a user name that is too long for the message is not sent")
    func longNames() throws {
        let name = String(repeating: "x", count: 40_000)
        #expect(try answer(Self.challenge, .init(user: name, password: "p")) == nil)
        #expect(try answer(Self.challenge, .init(user: "me", password: name)) != nil)
    }

    // MARK: Hostile challenges

    @Test("B2.93: a challenge that is cut off anywhere is never answered from beyond its end")
    func truncated() throws {
        for message in [Self.challenge, Self.challenge(targetInfo: Self.timed)] {
            for count in 0..<message.count {
                let answer = try answer(Array(message.prefix(count)))
                #expect(answer == nil, "\(count) bytes")
            }
        }
    }

    @Test("B2.93: lengths and places beyond the message, other types and other alphabets are refused")
    func malformed() throws {
        func changed(_ place: Int, _ bytes: [UInt8]) -> [UInt8] {
            var message = Self.challenge
            message.replaceSubrange(place..<place + bytes.count, with: bytes)
            return message
        }
        #expect(try answer(changed(0, [0x6E])) == nil)
        #expect(try answer(changed(8, [1])) == nil)
        #expect(try answer(changed(8, [3])) == nil)
        #expect(try answer(changed(20, [0x32])) == nil)
        #expect(try answer(changed(40, [0xFF, 0xFF])) == nil)
        #expect(try answer(changed(44, [0xFF, 0xFF, 0xFF, 0xFF])) == nil)
        #expect(try answer(changed(44, [0x67, 0, 0, 0])) == nil)
        #expect(try answer([]) == nil)
        // A value of the list that is longer than the list.
        #expect(try answer(Self.challenge(targetInfo: [2, 0, 9, 0, 1, 2])) == nil)
        #expect(try answer(Self.challenge(targetInfo: [2, 0, 9])) == nil)
        // A time that is too short to be one.
        let short = try #require(try answer(Self.challenge(targetInfo: [7, 0, 2, 0, 1, 2, 0, 0, 0, 0])))
        #expect(short.lanManager != [UInt8](repeating: 0, count: 24))
    }

    @Test("MS-NLMP 2.2.2.1: an old server without a list, and one whose list has no end, are answered")
    func oldServers() throws {
        let bare = Array(Self.challenge(targetInfo: [], flags: [1, 2, 0, 0]).prefix(32))
        let message = try #require(try answer(bare))
        #expect(message.proof.count == 16 + 28 + 4 + 4)
        #expect(message.flags == 0x201)
        let endless = try #require(try answer(Self.challenge(targetInfo: Array(Self.targetInfo.dropLast(4)))))
        let listed: [UInt8] = Self.targetInfo + [0, 0, 0, 0]
        #expect(Array(endless.proof.dropFirst(44)) == listed)
    }

    @Test("B2.93, B2.12: a missing second message counts as a failure of the credential; one that is no base64 is none")
    func broken() throws {
        for (token, expected) in [
            ("NTLM", "ask ntlm - 1"), ("NTLM realm=x", "ask ntlm - 1"), ("NTLM x", "deliver"), ("NTLM x===", "deliver"),
        ] {
            var rig = try AuthenticationRig()
            #expect(rig.refused("NTLM") == "ask ntlm - 0")
            #expect(rig.answered(.password(Self.user)) == "send ntlm")
            let told = rig.refused(token)
            #expect(told == expected, "\(token)")
        }
    }
}
