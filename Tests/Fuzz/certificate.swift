// DER: certificates, revocation lists, stapled responses. Only `CertificateError` comes out.

/// Runs one input of the fuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCertificate(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    var input = FuzzInput(start, count)
    for _ in 0..<3 { _ = input.choose(below: 1) }
    if let certificate = try? Certificate(der: input.bytes) {
        exercise(certificate)
        judge([certificate], anchors: [])
        judge([certificate], anchors: [certificate])
        var budget = WorkBudget()
        _ = StapledResponse.read(
            input.bytes, about: certificate, issuer: certificate, now: 1_800_000_000, budget: &budget)
    }
    // Our own reader must stand what OpenSSL's has turned away.
    let fields = CertificateFields(input.bytes)
    expect(fields.malformed != nil || fields.version >= 1, "no version")
    _ = try? RevocationList(der: input.bytes)
    return 0
}
