// PEM: certificates, keys, revocation lists, known hosts' encodings. Only `CertificateError` comes out.

/// Runs one input of the fuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPEM(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    var input = FuzzInput(start, count)
    for _ in 0..<3 { _ = input.choose(below: 1) }
    let text = String(decoding: input.bytes, as: UTF8.self)
    for certificate in (try? Certificate.parse(pem: text)) ?? [] { exercise(certificate) }
    if let identity = try? Identity(certificatePEM: text, keyPEM: text) {
        expect(!identity.keyPEM.isEmpty, "the key cannot be written")
    }
    _ = try? RevocationList.parse(pem: text)
    if let decoded = PEMBlocks.decode(base64: input.bytes) {
        expect(decoded.count <= input.bytes.count, "more bytes than digits")
    }
    return 0
}
