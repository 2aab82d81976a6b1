// The evaluator: several certificates cut out of one input, each in every role.

/// Runs one input of the fuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzVerdict(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    var input = FuzzInput(start, count)
    let turn = input.choose(below: 8)
    for _ in 0..<2 { _ = input.choose(below: 1) }
    var certificates: [Certificate] = []
    input.bytes.withUnsafeBytes { bytes in
        var reader = DERReader(bytes)
        while let element = reader.next(), certificates.count < 8 {
            if let certificate = try? Certificate(der: Array(bytes[part: element.whole])) {
                certificates.append(certificate)
            }
        }
    }
    guard !certificates.isEmpty else { return 0 }
    let shift = turn % certificates.count
    let turned = Array(certificates[shift...] + certificates[..<shift])
    judge(turned, anchors: [certificates[0]])
    judge(turned, anchors: Array(turned.dropFirst()))
    judge(turned, anchors: [])
    return 0
}
