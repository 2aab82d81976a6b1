// PKCS #12 files. Only `CertificateError` comes out, and no file keeps the reader busy for long.

/// Runs one input of the fuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPKCS12(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    var input = FuzzInput(start, count)
    for _ in 0..<3 { _ = input.choose(below: 1) }
    for passphrase in ["x", ""] {
        guard let identity = try? Identity(pkcs12: input.bytes, passphrase: passphrase) else { continue }
        for certificate in identity.chain.certificates { exercise(certificate) }
    }
    return 0
}
