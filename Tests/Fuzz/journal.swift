// Journals of background sessions: a record that was read comes back equal when it is written and read again, all other
// bytes are refused with a reason, and a journal with one wrong byte is refused.

import URLLoadingPolicy

/// Runs one input of the fuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzJournal(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    var input = FuzzInput(start, count)
    let kind = input.choose(below: 3)
    switch kind {
    case 0: file(input.bytes)
    case 1: record(input.bytes)
    default: settings(input.bytes)
    }
    return 0
}

/// The bytes as a whole file, digest and all.
private func file(_ bytes: [UInt8]) {
    if let record = try? TransferRecordCoding.record(bytes) { comesBack(record) }
    if let settings = try? TransferRecordCoding.settings(bytes) {
        expect(TransferRecordCoding.encoded(settings: settings) == bytes, "settings that have two forms")
    }
}

/// Checks that a record comes back equal when it is written and read again, and has one written form. The bytes that it
/// was first read from may differ: impossible times are brought back (B10.41).
private func comesBack(_ record: TransferRecord) {
    guard let written = TransferRecordCoding.encoded(record) else { finding("what was read is too long") }
    let again = try? TransferRecordCoding.record(written)
    expect(again == record, "not what was written")
    expect(again.flatMap { TransferRecordCoding.encoded($0) } == written, "a record that has two forms")
}

/// Takes the bytes as those behind the digest, since no input of the fuzzer has the right digest.
private func record(_ bytes: [UInt8]) {
    guard let record: TransferRecord = try? wholeValue(bytes) else { return }
    guard let written = TransferRecordCoding.encoded(record) else { finding("what was read is too long") }
    comesBack(record)
    var wrong = written
    let place = bytes.count % wrong.count
    wrong[place] ^= 0x10
    expect((try? TransferRecordCoding.record(wrong)) == nil, "a wrong byte is not noticed")
    // What comes of a record must hold whatever is in it.
    let now = TransferInstant(wall: 1, uptime: 2, boot: 3)
    var schedule = TransferSchedule(places: 1)
    schedule.added(record.task, TransferSchedule.Entry(record))
    _ = schedule.next(now)
    _ = schedule.failed(record.task, code: -1005, random: UInt32(truncatingIfNeeded: bytes.count), now: now)
    expect((schedule.wake(now) ?? 0) >= 0, "a time that has passed")
    var life = record.lifetime
    life.note(now)
    expect(life.spent >= 0 && (life.remaining(now) ?? 0) >= 0, "less time than none")
}

private func settings(_ bytes: [UInt8]) {
    guard let settings: TransferSettings = try? wholeValue(bytes) else { return }
    guard let written = TransferRecordCoding.encoded(settings: settings) else { finding("what was read is too long") }
    guard let again = try? TransferRecordCoding.settings(written) else { finding("what was written is not read") }
    expect(again == settings, "not what was written")
}
