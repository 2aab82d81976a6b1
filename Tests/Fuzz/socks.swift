// What proxies say to SOCKS4, 4A and 5, byte for byte, whole and in pieces: how it is cut does not matter, no byte of
// the tunnel is taken, and no password is shown to a proxy that has not asked for one.

/// Runs one input of the fuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSOCKS(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    var input = FuzzInput(start, count)
    let isVersion5 = input.choose(below: 2) == 1
    let target = targets[input.choose(below: UInt8(targets.count))]
    let credentials = input.choose(below: 2) == 1 ? ProxyCredentials(user: "me", password: "secret") : nil
    let seed = input.choose(below: 255)
    var outcomes: [Outcome] = []
    for pieces in input.waysToCut(seed: seed) {
        let exchange = SOCKSExchange(isVersion5: isVersion5, target: target, port: 443, credentials: credentials)
        outcomes.append(converse(exchange, pieces, mayShow: isVersion5 && credentials != nil))
    }
    expect(outcomes.allSatisfy { $0 == outcomes[0] }, "pieces change the outcome: \(outcomes)")
    return 0
}

private let targets: [SOCKSExchange.Target] = [
    .address([192, 0, 2, 1]), .address([UInt8](repeating: 1, count: 16)), .name("origin.test"),
    .name(String(repeating: "a", count: 255)), .name(""), .address([1]),
]

private struct Outcome: Equatable {
    var sent: [[UInt8]] = []
    var end: SOCKSExchange.Step = .needMore
    var used = 0
}

private func converse(
    _ exchange: consuming SOCKSExchange, _ pieces: [ArraySlice<UInt8>], mayShow: Bool
) -> Outcome {
    var exchange = exchange
    var outcome = Outcome()
    /// Whether the conversation can go on without more bytes.
    func note(_ step: SOCKSExchange.Step) -> Bool {
        switch step {
        case .needMore: return false
        case .send(let bytes):
            expect(!bytes.isEmpty && bytes.count < 1024, "\(bytes.count) bytes to send")
            let shows = String(decoding: bytes, as: UTF8.self).contains("secret")
            expect(!shows || mayShow, "the password goes where it was not asked for")
            outcome.sent.append(bytes)
            return true
        case .open, .failed:
            outcome.end = step
            return false
        }
    }
    guard note(exchange.start()) else { return outcome }
    for piece in pieces where outcome.end == .needMore {
        var offset = 0
        piece.withUnsafeBytes { bytes in
            while note(exchange.next(bytes, offset: &offset)) {}
            expect(offset <= bytes.count, "beyond the end")
            expect(outcome.end != .needMore || offset == bytes.count, "bytes are left, and more are wanted")
        }
        outcome.used += offset
    }
    expect(outcome.sent.count <= 3, "\(outcome.sent.count) messages")
    // The longest answers: a choice, a verdict, and a reply with a name of 255 bytes.
    expect(outcome.used <= 2 + 2 + 262, "\(outcome.used) bytes were taken")
    return outcome
}
