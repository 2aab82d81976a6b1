// Header blocks: the blocks of one connection, with table sizes in between. Only `HPACKError` comes out; it does not
// matter how a block is cut, nor, for the table, whether its fields are kept; budgets hold; and what was read can be
// written and read again.

/// Runs one input of the fuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzHPACK(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    var input = FuzzInput(start, count)
    let limits = budgets[input.choose(below: UInt8(budgets.count))]
    let seed = input.choose(below: 255)
    var first: Outcome?
    for pieces in input.waysToCut(seed: seed) {
        let outcome = read(pieces, limits)
        expect(
            first == nil || first?.isSame(as: outcome) == true,
            "cut into \(pieces.count): \(outcome.summary), whole: \(first?.summary ?? "")")
        first = outcome
    }
    guard let first else { return 0 }
    let ignored = read([input.bytes[...]], limits, for: .table)
    expect(isSame(ignored.fault, first.fault), "without fields \(ignored.summary), with them \(first.summary)")
    checkHeads(first)
    checkAgain(first)
    return 0
}

/// Budgets that a short input can exceed, and others.
private let budgets = [
    HPACKLimits(), HPACKLimits(listBytes: 100, hardListBytes: 300, blockBytes: 200),
    HPACKLimits(listBytes: 40, hardListBytes: 5000, blockBytes: 4000),
]

/// What was read of a connection.
private struct Outcome {
    var lists: [[Field]] = []
    var fault: HPACKError?
    var summary: String { "\(lists.map(\.count)), \(String(describing: fault))" }

    func isSame(as other: Outcome) -> Bool { lists == other.lists && fuzz_hpack.isSame(fault, other.fault) }
}

/// Whether two faults count as equal. Budgets are checked before and after a piece is decoded, so that a block with
/// several faults may be refused for another one of them where it is cut in another way.
private func isSame(_ left: HPACKError?, _ right: HPACKError?) -> Bool {
    guard let left, let right else { return left == nil && right == nil }
    return left == right || left.isExcess || right.isExcess
}

private struct Field: Equatable {
    var name: [UInt8]
    var value: [UInt8]
}

/// Reads the blocks and sizes that an input consists of.
private func read(
    _ pieces: [ArraySlice<UInt8>], _ limits: HPACKLimits, for purpose: HPACKDecoder.Purpose = .fields
) -> Outcome {
    var outcome = Outcome()
    var decoder = HPACKDecoder(limits: limits)
    var frames = Frames()
    do throws(HPACKError) {
        for piece in pieces {
            var rest = piece
            while let step = frames.next(&rest) {
                switch step {
                case .tableSize(let size): decoder.tableSizeAcknowledged(size)
                case .begin: decoder.beginBlock(for: purpose)
                case .bytes(let bytes): try decoder.decode(Array(bytes).span.bytes)
                case .end:
                    try decoder.endBlock()
                    outcome.lists.append(allFields(decoder.list))
                    check(decoder.list, limits)
                }
            }
        }
    } catch {
        outcome.fault = error
        expect(decoder.list.count == 0, "fields behind an error")
    }
    return outcome
}

/// Cuts an input into blocks and sizes.
private struct Frames {
    enum Step {
        case tableSize(Int)
        case begin
        case bytes(ArraySlice<UInt8>)
        case end
    }

    private var remaining = 0
    private var isInside = false

    /// A byte says how long the next block is, or, above 250, which size the table becomes.
    mutating func next(_ bytes: inout ArraySlice<UInt8>) -> Step? {
        if isInside, remaining == 0 {
            isInside = false
            return .end
        }
        guard let byte = bytes.first else { return nil }
        if isInside {
            let piece = bytes.prefix(remaining)
            remaining -= piece.count
            bytes = bytes.dropFirst(piece.count)
            return .bytes(piece)
        }
        bytes = bytes.dropFirst()
        if byte > 250 { return .tableSize([0, 60, 200, 4096, 8192][Int(byte) - 251]) }
        remaining = Int(byte)
        isInside = true
        return .begin
    }
}

private func allFields(_ list: HeaderList) -> [Field] {
    list.bytes.withUnsafeBytes { bytes in
        list.slots.map { Field(name: Array(bytes.name(of: $0)), value: Array(bytes.value(of: $0))) }
    }
}

private func check(_ list: HeaderList, _ limits: HPACKLimits) {
    let size = allFields(list).reduce(0) { $0 + $1.name.count + $1.value.count + 32 }
    expect(size <= limits.listBytes, "\(size) of \(limits.listBytes)")
    expect(!list.isTooLarge || list.count == 0, "fields of a list that is too large")
    expect(list.bytes.count == size - 32 * list.count, "bytes that belong to no field")
}

/// A head that is let through holds nothing that HTTP/1.1 would not let through, and can be encoded.
private func checkHeads(_ outcome: Outcome) {
    var encoder = HPACKEncoder()
    for fields in outcome.lists {
        var list = HeaderList()
        for field in fields {
            list.bytes += field.name
            list.bytes += field.value
            list.appendSlot(
                start: list.bytes.count - field.name.count - field.value.count, nameLength: field.name.count,
                valueLength: field.value.count)
        }
        var block: [UInt8] = []
        if let head = try? HeaderBlockRules.responseHead(list) {
            let isEncoded = (try? encoder.encode(head, framing: .none, into: &block)) != nil
            expect(isEncoded, "a response that cannot be encoded")
        }
        if let request = try? HeaderBlockRules.requestHead(list), request.scheme != "" {
            let isEncoded =
                (try? encoder.encode(
                    request.head, scheme: request.scheme, authority: "a", framing: .none, into: &block)) != nil
            expect(isEncoded || hasBadHost(request.head.fields), "a request that cannot be encoded")
        }
        if let trailers = try? HeaderBlockRules.trailers(list) {
            let isEncoded = (try? encoder.encode(trailers: trailers, into: &block)) != nil
            expect(isEncoded, "trailers that cannot be encoded")
        }
    }
}

/// Whether Host, without `:authority`, is no authority.
private func hasBadHost(_ fields: Fields) -> Bool {
    guard let host = fields.first(.host) else { return false }
    return !host.withUTF8Bytes { $0.isAuthority }
}

/// Checks that the lists that were read come back equal when an encoder writes them, with sizes that change.
private func checkAgain(_ outcome: Outcome) {
    var encoder = HPACKEncoder()
    var decoder = HPACKDecoder()
    for (number, fields) in (outcome.lists + outcome.lists).enumerated() {
        if fields.count % 3 == 2 {
            for size in [fields.count * 40, number * 100] {
                encoder.peerTableSizeChanged(to: size)
                decoder.tableSizeAcknowledged(size)
            }
        }
        var block: [UInt8] = []
        encoder.beginBlock(into: &block)
        for field in fields {
            field.name.withUnsafeBytes { name in
                field.value.withUnsafeBytes { encoder.encode(name, $0, into: &block) }
            }
        }
        do throws(HPACKError) {
            decoder.beginBlock()
            try decoder.decode(block.span.bytes)
            try decoder.endBlock()
        } catch {
            finding("block \(number) cannot be read again: \(error)")
        }
        expect(fields == allFields(decoder.list), "block \(number) is read again as another")
    }
}
