// Files of a cache: the preamble and head of an entry, and the log. What was read comes back equal when it is written
// and read again, and nothing reaches beyond the bytes.

import URLLoadingWire

/// Runs one input of the fuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCacheFile(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    var input = FuzzInput(start, count)
    let kind = input.choose(below: 3)
    input.bytes.withUnsafeBytes { bytes in
        switch kind {
        case 0: file(bytes)
        case 1: head(bytes)
        default: log(bytes)
        }
    }
    return 0
}

private func file(_ bytes: UnsafeRawBufferPointer) {
    guard let preamble = CacheRecord.Preamble(bytes) else { return }
    expect(preamble.headLength >= 0 && preamble.bodyLength >= 0, "lengths below zero")
    expect(preamble.fileLength == 48 + preamble.headLength + preamble.bodyLength, "lengths that do not add up")
    guard preamble.fileLength == bytes.count else { return }
    let part = UnsafeRawBufferPointer(rebasing: bytes[CacheRecord.Preamble.length..<preamble.bodyOffset])
    if CacheRecord.digest(part) == preamble.headDigest { head(part) }
}

private func head(_ bytes: UnsafeRawBufferPointer) {
    guard let record = CacheRecord(head: bytes) else { return }
    guard let written = record.encoded(bodyLength: 0, bodyDigest: 0) else { finding("what was read is too long") }
    written.withUnsafeBytes { again in
        guard let preamble = CacheRecord.Preamble(again), preamble.fileLength == again.count else {
            finding("a file that says otherwise than it is")
        }
        let part = UnsafeRawBufferPointer(rebasing: again[CacheRecord.Preamble.length...])
        expect(CacheRecord(head: part) == record, "not what was written")
    }
}

private func log(_ bytes: UnsafeRawBufferPointer) {
    // Digests are not guessed: each run of forty bytes gets its own.
    var signed: [UInt8] = []
    var offset = 0
    while bytes.count - offset >= 40 {
        let record = UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + 40)])
        signed += record
        withUnsafeBytes(of: CacheRecord.digest(record).littleEndian) { signed += $0 }
        offset += 40
    }
    signed += bytes[offset...]
    var log = CacheIndex()
    signed.withUnsafeBytes { log.take(records: $0) }
    var again = CacheIndex()
    log.shortened.withUnsafeBytes { again.take(records: $0) }
    expect(again.byteCount == log.byteCount && again.files.count == log.files.count, "the shorter log tells otherwise")
    expect(again.excess(over: 0) == log.excess(over: 0), "another order")
    expect(log.byteCount >= 0, "fewer than no bytes")
}
