// The log of a cache on disk: records, what replaying them tells, and what is passed over.

import Testing
import URLLoadingPolicy

@Suite struct CacheIndexTests {
    private func name(_ number: Int) -> SipHash.Words { SipHash.Words(UInt64(number), 7) }

    private func replay(_ bytes: [UInt8]) -> CacheIndex {
        var log = CacheIndex()
        bytes.withUnsafeBytes { log.take(records: $0) }
        return log
    }

    @Test("B7.18: every record comes back from its bytes, and is of one length")
    func roundTrip() {
        let events: [CacheIndex.Event] = [
            .stored(name(1), byteCount: 0, at: 0), .stored(name(2), byteCount: 1 << 40, at: .max),
            .stored(SipHash.Words(.max, 0), byteCount: 5, at: .min), .removed(name(3)), .used(name(4)),
        ]
        for event in events {
            let bytes = CacheIndex.bytes(event)
            #expect(bytes.count == CacheIndex.recordSize)
            #expect(bytes.withUnsafeBytes { CacheIndex.event($0) } == event)
            for index in bytes.indices {
                var changed = bytes
                changed[index] ^= 0x10
                #expect(changed.withUnsafeBytes { CacheIndex.event($0) } == nil)
            }
        }
    }

    @Test("B7.7, B7.15: the log tells sizes, order of use and times")
    func replaying() {
        let events: [CacheIndex.Event] = [
            .stored(name(1), byteCount: 10, at: 100), .stored(name(2), byteCount: 20, at: 200),
            .stored(name(3), byteCount: 30, at: 300), .used(name(1)), .removed(name(2)), .used(name(9)),
            .stored(name(3), byteCount: 5, at: 400), .removed(name(8)),
        ]
        let log = replay(events.flatMap(CacheIndex.bytes))
        #expect(log.byteCount == 15 && log.files.count == 2 && log.recordCount == events.count)
        #expect(log.excess(over: 15) == [])
        #expect(log.excess(over: 14) == [name(1)])
        #expect(log.excess(over: 0) == [name(1), name(3)])
        #expect(log.names(storedSince: 400) == [name(3)])
        #expect(log.names(storedSince: 100) == [name(1), name(3)])
        let short = replay(log.shortened)
        #expect(short.byteCount == 15 && short.recordCount == 2 && short.excess(over: 14) == [name(1)])
    }

    @Test("B7.19: bytes that are not a record are skipped, and so is a torn record at the end")
    func torn() {
        let good = CacheIndex.bytes(.stored(name(1), byteCount: 10, at: 100))
        let nonsense = [UInt8](repeating: 0x5A, count: CacheIndex.recordSize)
        for length in 0..<CacheIndex.recordSize {
            let log = replay(nonsense + good + nonsense + Array(good.prefix(length)))
            #expect(log.files.count == 1 && log.byteCount == 10 && log.recordCount == 3)
        }
    }

    @Test("B7.5, B7.19: a record with which the sum of all sizes would overflow is skipped")
    func countless() {
        var log = CacheIndex()
        log.take(.stored(name(1), byteCount: .max - 10, at: 1))
        log.take(.stored(name(2), byteCount: 11, at: 2))
        log.take(.stored(name(3), byteCount: 10, at: 3))
        #expect(log.byteCount == .max && log.recordCount == 3)
        #expect(log.excess(over: 0) == [name(1), name(3)])
    }

    @Test("B7.7: a log is worth shortening when it holds much history, not when it holds many entries")
    func shortening() {
        var log = CacheIndex()
        for number in 0..<5000 { log.take(.stored(name(number), byteCount: 1, at: 0)) }
        #expect(!log.isWorthShortening)
        for _ in 0..<9097 { log.take(.used(name(1))) }
        #expect(log.isWorthShortening)
    }

    @Test("Names of files are thirty-two hexadecimal digits, and nothing else is read as one")
    func names() throws {
        let name = try #require(CacheKey("http://h.example/a")).fileName
        #expect(SipHash.Words(hexadecimal: name.hexadecimal) == name)
        #expect(name.hexadecimal.utf8.count == 32)
        #expect(SipHash.Words(0x0123_4567_89AB_CDEF, 1).hexadecimal == "0123456789abcdef0000000000000001")
        let wrong = ["", "0", String(repeating: "0", count: 33), String(repeating: "G", count: 32)]
        for text in wrong + [String(repeating: "A", count: 32)] { #expect(SipHash.Words(hexadecimal: text) == nil) }
    }
}
