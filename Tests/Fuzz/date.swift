// Dates as cookies carry them: a moment between 1601 and 9999 or none, and what stands around a date does not count.
// Dates as other fields carry them: what is read is what is written, and a cookie's reader reads it too.

/// Runs one input of the fuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzDate(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = FuzzInput(start, count).bytes
    let now = WallTime(seconds: 1_767_225_600)
    if let time = bytes.withUnsafeBytes({ HTTPDate.parse($0, now: now) }) {
        let text = HTTPDate.text(time)
        expect(HTTPDate.parse(text, now: now) == time, "\(text) is not what was read")
        if time.date.year >= 1601 { expect(CookieDate.seconds(text.utf8) == time.seconds, "\(text) for a cookie") }
    }
    guard let seconds = CookieDate.seconds(bytes) else { return 0 }
    expect((-11_644_473_600...253_402_300_799).contains(seconds), "\(seconds) is in no year there is")
    expect(CookieDate.seconds(Array(" ,".utf8) + bytes + Array("; GMT".utf8)) == seconds, "what stands around it")
    return 0
}
