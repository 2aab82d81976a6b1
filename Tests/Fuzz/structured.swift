// Structured fields: what was read keeps within its limits, and spaces around a value change nothing of it.

/// Runs one input of the fuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzStructured(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let input = FuzzInput(start, count)
    let text = String(decoding: input.bytes, as: UTF8.self)
    let item = fields(text).structuredItem("X")
    if let item {
        check(item.value)
        check(item.parameters)
        expect(fields(" \(text) ").structuredItem("X") == item, "spaces change the item")
        // A key before a value does not change the value.
        if text.utf8.first != 32 {
            let member = fields("k=\(text)").structuredDictionary("X")?.first
            expect(member?.value == .item(item.value) && member?.parameters == item.parameters, "the member differs")
        }
    }
    let members = fields(text).structuredDictionary("X")
    if let members {
        expect(Set(members.map(\.key)).count == members.count, "a key came twice")
        for member in members {
            check(member.parameters)
            switch member.value {
            case .item(let value): check(value)
            case .innerList(let items): for item in items { check(item.value) }
            }
        }
        let lines = fields("\(text)\nlast=?0").structuredDictionary("X")
        let hasMembers = !members.isEmpty
        expect(
            !hasMembers || lines?.contains { $0.key == "last" && $0.value == .item(.boolean(false)) } == true,
            "a line is gone")
    }
    return 0
}

private func check(_ value: BareItem) {
    switch value {
    case .integer(let number), .date(let number): expect(abs(number) < 1_000_000_000_000_000, "\(number) is too large")
    case .decimal(let number): expect(abs(number) < 1_000_000_000_000_000, "\(number) thousandths are too many")
    case .string(let text): expect(text.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "a string of other bytes")
    case .token(let text): expect(!text.isEmpty, "an empty token")
    case .bytes, .boolean, .displayString: break
    }
}

private func check(_ parameters: [StructuredParameter]) {
    expect(Set(parameters.map(\.key)).count == parameters.count, "a parameter came twice")
    for parameter in parameters { check(parameter.value) }
}

/// A field for each line.
private func fields(_ text: String) -> Fields {
    var fields = Fields()
    for line in text.utf8.split(separator: 10, omittingEmptySubsequences: false) {
        fields.append("X", String(decoding: line, as: UTF8.self))
    }
    return fields
}
