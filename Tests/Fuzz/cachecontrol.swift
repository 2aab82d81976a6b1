// Heads of exchanges as a cache reads them: whatever the fields say, what is stored is never used against no-store, a
// restriction or another selection, and how a list is split into fields does not matter.

import URLLoadingWire

/// Runs one input of the fuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCacheControl(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    var input = FuzzInput(start, count)
    let policies: [CachePolicy] = [.protocolRules, .reload, .storedElseLoad, .storedOnly, .revalidate]
    let policy = policies[input.choose(below: 5)]
    let wait = Int64(input.choose(below: 255)) - 10
    let status = [200, 301, 404, 500][input.choose(below: 4)]
    let (answer, request) = fields(input.bytes)
    let time = WallTime(seconds: 1_767_225_600)
    let news = ValidationRules.News(fields: answer, requestTime: time, responseTime: time)

    let control = CacheControl(answer)
    expect(CacheControl(joined(answer)) == control, "one field or several")
    let outcome = CacheRules.outcome(
        method: "GET", request: request, status: status, news: news, stored: nil, isValidation: false,
        salt: SipHash.Words(1, 2))
    guard case .deliver(let change) = outcome else { finding("nothing was stored that could be validated") }
    guard case .store(let stored) = change else {
        expect(change == .none, "nothing was there that could change")
        return 0
    }
    expect(!control.noStore && !CacheControl(request).noStore, "stored against no-store")
    expect(stored.age(at: time + wait) >= 0, "a negative age")
    expect(stored.lifetime(control).seconds >= 0, "a negative lifetime")

    let decision = CacheRules.decision(
        policy: policy, method: "GET", request: request, stored: stored, now: time + wait)
    if decision == .use {
        expect(policy != .reload, "a reload was answered")
        expect(stored.selection.matches(request), "an answer to another request")
        if policy == .protocolRules { expect(!control.noCache, "used without asking") }
    }
    if case .validate(let conditions) = decision {
        expect(!conditions.isEmpty && !Validators.asksItself(request), "a question about nothing")
        expect(policy != .storedOnly, "a question without network")
    }
    let freshened = ValidationRules.freshened(stored, by: news)
    expect(freshened != nil, "an answer that does not fit itself")
    expect(freshened?.validators == stored.validators, "validators that change by being confirmed")
    return 0
}

/// Lines of the input as fields: those before an empty line belong to the answer, the others to the request.
private func fields(_ bytes: [UInt8]) -> (answer: Fields, request: Fields) {
    var (answer, request) = (Fields(), Fields())
    var isRequest = false
    for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).prefix(40) {
        guard let colon = line.firstIndex(of: 0x3A) else {
            isRequest = isRequest || line.isEmpty
            continue
        }
        let name = String(decoding: line[..<colon], as: UTF8.self)
        let value = String(decoding: line[(colon + 1)...], as: UTF8.self)
        if isRequest { request.append(name, value) } else { answer.append(name, value) }
    }
    return (answer, request)
}

/// These fields with one Cache-Control field, unless joining would make text of a quote that is not closed.
private func joined(_ fields: Fields) -> Fields {
    let values = fields.values(.cacheControl)
    guard !values.isEmpty, !values.contains(where: { $0.utf8.contains(0x22) }) else { return fields }
    var joined = Fields()
    joined.append(.cacheControl, values.joined(separator: ", "))
    return joined
}
