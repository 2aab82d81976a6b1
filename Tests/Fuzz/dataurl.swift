// Any text as a `data:` URL: what is read is as long as it can be, and comes back equal when it
// is written and read again.

import URLLoadingWire

/// Runs one input of the fuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzDataURL(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let text = String(decoding: FuzzInput(start, count).bytes, as: UTF8.self)
    readOne(text)
    readOne("data:" + text)
    readOne("data:;base64," + text)
    let type = FileTypes.mimeType(ofPath: text)
    expect(type.utf8.contains(UInt8(ascii: "/")), "\(type) is no type")
    return 0
}

private func readOne(_ text: String) {
    guard let data = try? DataURL(text) else { return }
    expect(data.content.count <= text.utf8.count, "more than was there")
    expect(data.mimeType.utf8.filter { $0 == UInt8(ascii: "/") }.count == 1, "\(data.mimeType) is no type")
    expect(data.charset?.isEmpty != true, "an empty charset")
    let charset = data.charset.map { ";charset=\($0)" } ?? ""
    let written = "data:\(data.mimeType)\(charset);base64,\(Base64.encode(data.content))"
    expect((try? DataURL(written)) == data, "\(written) is not what was read")
}
