// Resumed downloads and uploads: whatever a server says of lengths, ranges and offsets, a rest begins where the part
// ends, and no part of a body is sent that is not in it.

import URLLoadingWire

/// Runs one input of the fuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzResume(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    var input = NumberInput(FuzzInput(start, count).bytes)
    switch input.choose(below: 3) {
    case 0: range(input.rest)
    case 1: download(&input)
    default: upload(&input)
    }
    return 0
}

/// A Content-Range of any text.
private func range(_ bytes: [UInt8]) {
    switch ContentRange(String(decoding: bytes, as: UTF8.self)) {
    case .part(let first, let last, let whole)?:
        expect(0 <= first && first <= last && last < .max, "a part that cannot be")
        if let whole { expect(last < whole, "a part behind the end") }
    case .unsatisfied(let whole)?: expect(whole >= 0, "a negative length")
    case nil: break
    }
}

/// The answer to a request for the rest.
private func download(_ input: inout NumberInput) {
    let statuses = [200, 206, 206, 206, 416, 404]
    let status = statuses[input.choose(below: 6)]
    let (offset, total, length) = (input.known() ?? 0, input.known(), input.known())
    let (first, last, whole) = (input.number(), input.number(), input.number())
    var fields = Fields()
    let end = input.choose(below: 2) == 0 ? "*" : "\(whole)"
    fields.append(.contentRange, status == 416 ? "bytes */\(whole)" : "bytes \(first)-\(last)/\(end)")
    let meaning = ResumeRules.meaning(
        ofStatus: status, fields: fields, length: length, time: WallTime(seconds: 0), offset: offset, total: total,
        validator: .tag("\"v\""))
    switch meaning {
    case .continues(let end, let all):
        expect(status == 206 && first == offset && last == end - 1, "the rest of something else")
        if let all { expect(all > offset, "a rest of nothing") }
        if let length { expect(offset.addingSaturated(length) == last + 1, "a rest that ends elsewhere") }
    case .complete: expect(status == 416 && whole == offset, "complete, with something missing")
    case .whole, .startsOver, .result: break
    }
}

/// An upload whose server says anything.
private func upload(_ input: inout NumberInput) {
    let length = input.known()
    let isDivisible = input.choose(below: 2) == 0
    var machine = ResumableUploadMachine(
        target: "http://a/", length: length, isDivisible: isDivisible, patience: ResumableUploadMachine.Patience())
    for _ in 0..<40 where !input.isEmpty {
        let step: ResumableUploadMachine.Step?
        switch input.choose(below: 4) {
        case 0:
            _ = machine.informed(head(&input, status: 104, location: true), sent: input.number())
            step = nil
        case 1: step = machine.lost(sent: input.number())
        default:
            let status = [200, 201, 204, 404, 409, 500][input.choose(below: 6)]
            step = machine.answered(head(&input, status: status, location: false), sent: input.number())
        }
        if case .append(let offset, let count, _)? = step {
            expect(offset >= 0 && count ?? 0 >= 0, "a part before the beginning")
            if let length {
                let (end, isTooFar) = offset.addingReportingOverflow(count ?? 0)
                expect(!isTooFar && end <= length, "a part behind the end")
            }
        }
    }
}

private func head(_ input: inout NumberInput, status: Int, location: Bool) -> ResponseHead {
    var fields = Fields()
    fields.append(UploadFields.version, "\(UploadFields.interopVersion)")
    if location { fields.append(.location, "/upload") }
    if input.choose(below: 4) > 0 { fields.append(UploadFields.offset, "\(input.number())") }
    let complete = ["?0", "?1", "?0"][input.choose(below: 3)]
    if input.choose(below: 4) > 0 { fields.append(UploadFields.complete, complete) }
    if input.choose(below: 2) == 0 {
        fields.append(UploadFields.limit, "max-append-size=\(input.number()), min-append-size=\(input.number())")
    }
    return ResponseHead(status: status, fields: fields)
}
