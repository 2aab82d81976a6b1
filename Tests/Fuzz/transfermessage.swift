// Messages between a program and the owner of its transfers: how a stream is cut changes neither the messages nor the
// error that come of it, and what was read can be sent and read again.

/// Runs one input of the fuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzTransferMessage(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    var input = FuzzInput(start, count)
    let kind = input.choose(below: 4)
    let seed = input.choose(below: 255)
    switch kind {
    case 0: stream(input, seed, as: TransferCommand.self)
    case 1: stream(input, seed, as: TransferEvent.self)
    case 2: frame(input.bytes, as: TransferCommand.self)
    default: frame(input.bytes, as: TransferEvent.self)
    }
    return 0
}

private func stream<Message: TransferMessage & Hashable>(_ input: FuzzInput, _ seed: Int, as type: Message.Type) {
    var first: ([Message], TransferCodingError?)?
    for pieces in input.waysToCut(seed: seed) {
        var decoder = TransferDecoder<Message>()
        var messages: [Message] = []
        var failure: TransferCodingError?
        for piece in pieces where failure == nil {
            decoder.receive(piece)
            do throws(TransferCodingError) {
                while let message = try decoder.next() { messages.append(message) }
            } catch {
                failure = error
            }
        }
        if let first {
            expect(first.0 == messages && first.1 == failure, "another cut, another meaning")
        } else {
            first = (messages, failure)
        }
    }
}

private func frame<Message: TransferMessage & Hashable>(_ bytes: [UInt8], as type: Message.Type) {
    guard let message = try? Message(frame: bytes) else { return }
    // Of a greeting of another version only that is read.
    if case .hello(let hello)? = message as? TransferCommand, hello.version != TransferLimits.version { return }
    guard let written = message.frame else { finding("what was read is too long") }
    expect(Array(written.dropFirst(4)) == bytes, "a message that has two forms")
    expect((try? Message(frame: Array(written.dropFirst(4)))) == message, "not what was written")
}
