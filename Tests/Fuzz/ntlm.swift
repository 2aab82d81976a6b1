// What servers and proxies say in NTLM: a second message made of any bytes is read within its bounds or not at all, and
// the answer to one that was read is a message whose parts lie inside of it and hold no password.

/// Runs one input of the fuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzNTLM(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    var input = FuzzInput(start, count)
    let user = users[input.choose(below: UInt8(users.count))]
    if let info = NTLMTargetInfo(input.bytes) {
        _ = info.timestamp
        let own = info.answered(forService: "HTTP/server.test")
        if let bytes = own.bytes {
            expect(NTLMTargetInfo(bytes) == own, "a list is read as another")
        }
    }
    // Both a message as it is, and one that has the right beginning.
    for message in [input.bytes, Array("NTLMSSP\0".utf8) + [2, 0, 0, 0] + input.bytes] {
        guard let challenge = NTLMChallenge(message) else { continue }
        expect(challenge.nonce.count == 8, "a nonce of \(challenge.nonce.count) bytes")
        let answer = NTLM.authenticateMessage(
            challenge, credential: PasswordCredential(user: user, password: "pAsSwOrD"), host: "server.test",
            freshness: freshness)
        if let answer { check(answer, to: message) }
    }
    return 0
}

private let users = ["user", "DOMAIN\\user", "user@domain", "", String(repeating: "u", count: 40_000), "ü\u{1F600}"]
private let freshness = AuthenticationFreshness(
    bytes: [UInt8](repeating: 7, count: 24), secondsSince1970: 1_700_000_000)

private func check(_ message: [UInt8], to challenge: [UInt8]) {
    expect(message.starts(with: Array("NTLMSSP\0".utf8) + [3, 0, 0, 0]), "the beginning")
    for part in 0..<6 {
        let place = 12 + 8 * part
        let length = Int(message[place]) | Int(message[place + 1]) << 8
        let offset = (0..<4).reduce(0) { $0 | Int(message[place + 4 + $1]) << (8 * $1) }
        expect(offset >= 72 && offset + length <= message.count, "part \(part) lies outside")
    }
    for width in 1...2 {
        let secret: [UInt8] = "pAsSwOrD".utf8.flatMap { Array([$0, 0].prefix(width)) }
        // What the server says comes back to it.
        expect(!message.holds(secret) || challenge.holds(secret), "the password is in it")
    }
}

extension [UInt8] {
    fileprivate func holds(_ bytes: [UInt8]) -> Bool {
        indices.contains { self[$0...].starts(with: bytes) }
    }
}
