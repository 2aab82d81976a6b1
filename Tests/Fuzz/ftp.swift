// What FTP servers say, whole and in pieces, and the ports and paths in it: how it is cut does not matter, no reply is
// out of range, and nothing that is sent ends before its line does.

/// Runs one input of the fuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzFTP(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    var input = FuzzInput(start, count)
    let kind = input.choose(below: 3)
    let seed = input.choose(below: 255)
    switch kind {
    case 0: readPath(String(decoding: input.bytes, as: UTF8.self))
    case 1: converse(input.bytes, seed: seed)
    default: readReplies(input, seed: seed)
    }
    return 0
}

private func readReplies(_ input: FuzzInput, seed: Int) {
    let outcomes = input.waysToCut(seed: seed).map { replies(in: $0) }
    expect(outcomes.allSatisfy { $0 == outcomes[0] }, "pieces change the outcome: \(outcomes)")
    for reply in outcomes[0].replies {
        expect((100..<600).contains(reply.code), "the code \(reply.code)")
        expect(!reply.text.contains(10) && reply.text.count <= 4096, "the text of \(reply.code)")
        for port in [FTPPassiveAddress.extendedPort(reply.text), FTPPassiveAddress.port(reply.text)] {
            expect(port.map { (1...65_535).contains($0) } ?? true, "the port \(port ?? 0)")
        }
    }
}

private struct Outcome: Equatable {
    var replies: [FTPReply] = []
    var failure: FTPFailure?
    var isInside = false
}

private func replies(in pieces: [ArraySlice<UInt8>]) -> Outcome {
    var decoder = FTPReplyDecoder()
    var outcome = Outcome()
    for piece in pieces where outcome.failure == nil {
        piece.withUnsafeBytes { bytes in
            var offset = 0
            do throws(FTPFailure) {
                while let reply = try decoder.next(bytes, offset: &offset) { outcome.replies.append(reply) }
                expect(offset == bytes.count, "bytes are left, and more are wanted")
            } catch {
                outcome.failure = error
            }
        }
    }
    outcome.isInside = outcome.failure == nil && decoder.isInside
    return outcome
}

private func readPath(_ text: String) {
    guard let path = try? FTPPath(percentEncoded: text) else { return }
    for name in path.directories + [path.name].compactMap(\.self) {
        expect(!name.isEmpty, "an empty name")
        let line = FTPCommand("CWD", name).line
        expect(line.firstIndex(of: 10) == line.count - 1 && line.firstIndex(of: 13) == line.count - 2, "two commands")
    }
}

/// Hears the replies, with other events in between as the seed says, until the end.
private func converse(_ bytes: [UInt8], seed: Int) {
    let purposes: [FTPJob.Purpose] = [
        .retrieve, .store, .resume(from: 3, of: FTPFileState(size: 9, date: "20260102030405")),
    ]
    guard let path = try? FTPPath(percentEncoded: seed % 2 == 0 ? "/a/b" : "/a/") else { return }
    var machine = FTPMachine(
        FTPJob(path: path, purpose: purposes[seed % 3], isProtected: seed % 5 == 0, asksDate: seed % 7 == 0))
    var ends = 0
    func note(_ action: FTPAction?) {
        switch action {
        case .finish, .fail: ends += 1
        case .openData(let port): expect((1...65_535).contains(port), "the port \(port)")
        case .send, .secure, .askForCredential, .connectAgain, .transfer, nil: break
        }
        expect(ends <= 1, "two ends")
        guard let action, ends == 0 else { return }
        switch action {
        case .secure: note(machine.secured())
        case .askForCredential: note(machine.credentialAnswered(PasswordCredential(user: "u", password: "p")))
        case .openData: note(seed % 11 == 0 ? machine.dataUnreachable() : machine.dataOpened())
        case .transfer: note(seed % 13 == 0 ? machine.dataLost(count: 3) : machine.dataEnded(count: Int64(seed % 16)))
        case .send, .connectAgain, .finish, .fail: break
        }
    }
    for reply in replies(in: [bytes[...]]).replies { note(machine.replied(reply)) }
    // The first may lead to another connection, which then ends too.
    for _ in 0..<2 where ends == 0 { note(machine.controlEnded()) }
    expect(ends == 1, "no end")
}
