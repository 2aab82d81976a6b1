// Files of stored answers: what is written is what is read, and nothing else is read as one.

import Testing
import URLLoadingPolicy
import URLLoadingWire

@Suite struct CacheRecordTests {
    private static func record() -> CacheRecord {
        var fields = Fields()
        fields.append("Date", "Thu, 01 Jan 2026 00:00:00 GMT")
        fields.append("Set-Cookie", "a=b")
        fields.append("Set-Cookie", "c=d")
        fields.append("X-Empty", "")
        let members = [
            Selection.Member(name: "accept", value: .text("*/*")), .init(name: "x", value: .absent),
            .init(name: "cookie", value: .digest(SipHash.Words(5, 6))),
        ]
        return CacheRecord(
            key: "http://h.example/ü", url: "http://h.example/ü#x",
            answer: StoredAnswer(
                status: 200, fields: fields, requestTime: WallTime(seconds: 100), responseTime: WallTime(seconds: 101),
                selection: Selection(isUnrepeatable: false, members: members, salt: SipHash.Words(3, 4))),
            isHTTP: true, expectedLength: -1, mimeType: nil, textEncoding: "utf-8", storedAt: 123_456_789,
            userInfo: [1, 2, 3])
    }

    private static func file(_ record: CacheRecord, body: [UInt8]) throws -> [UInt8] {
        try #require(
            record.encoded(bodyLength: body.count, bodyDigest: body.withUnsafeBytes { CacheRecord.digest($0) })) + body
    }

    /// What a store does with a file's bytes.
    private static func read(_ file: [UInt8]) -> (CacheRecord, [UInt8])? {
        file.withUnsafeBytes { bytes in
            guard let preamble = CacheRecord.Preamble(bytes), preamble.fileLength == bytes.count else { return nil }
            let head = UnsafeRawBufferPointer(rebasing: bytes[CacheRecord.Preamble.length..<preamble.bodyOffset])
            let body = UnsafeRawBufferPointer(rebasing: bytes[preamble.bodyOffset...])
            guard CacheRecord.digest(head) == preamble.headDigest, CacheRecord.digest(body) == preamble.bodyDigest,
                let record = CacheRecord(head: head)
            else { return nil }
            return (record, Array(body))
        }
    }

    @Test("B4.22, B7.51, B7.74: values that are not UTF-8 stay the bytes that came, on a disk and renewed, too")
    func otherBytes() throws {
        let value: [UInt8] = [0x2F, 0xE9]
        var fields = Fields()
        fields.append("Location", latin1: "/é")
        var record = Self.record()
        record.answer.fields = StoringRules.storedFields(fields)
        var answer = try #require(Self.read(try Self.file(record, body: []))).0.answer
        #expect(answer.fields.withValueBytes(at: 0) { Array($0) } == value)
        var news = Fields()
        news.append("X-New", latin1: "/é")
        answer = try #require(
            ValidationRules.freshened(
                answer,
                by: ValidationRules.News(
                    fields: news, requestTime: answer.requestTime, responseTime: answer.responseTime)))
        for index in 0..<2 { #expect(answer.fields.withValueBytes(at: index) { Array($0) } == value) }
    }

    @Test("B7.12, B7.18: a record comes back from its bytes as it was")
    func roundTrip() throws {
        for body in [[], [1], Array("hello, world".utf8)] as [[UInt8]] {
            let read = try #require(Self.read(try Self.file(Self.record(), body: body)))
            #expect(read.0 == Self.record())
            #expect(read.1 == body)
        }
        var plain = Self.record()
        plain.url = nil
        plain.isHTTP = false
        plain.mimeType = "text/plain"
        plain.textEncoding = nil
        plain.userInfo = []
        #expect(Self.read(try Self.file(plain, body: []))?.0 == plain)
    }

    @Test("B7.19: a file that is cut anywhere is not read as a record")
    func cut() throws {
        let file = try Self.file(Self.record(), body: Array("hello".utf8))
        for length in 0..<file.count { #expect(Self.read(Array(file[..<length])) == nil) }
        #expect(Self.read(file + [0]) == nil)
    }

    @Test("B7.19: a file in which any one bit has changed is not read as a record")
    func flipped() throws {
        let file = try Self.file(Self.record(), body: Array("hello".utf8))
        for index in file.indices {
            for bit in 0..<8 {
                var changed = file
                changed[index] ^= 1 << UInt8(bit)
                #expect(Self.read(changed) == nil)
            }
        }
    }

    @Test("B7.19: heads that lie about lengths and kinds are refused, though their digests fit", arguments: 1...20)
    func hostileHeads(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let file = try Self.file(Self.record(), body: [])
        let head = Array(file[CacheRecord.Preamble.length...])
        for _ in 0..<500 {
            var changed = head
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: 0..<changed.count, using: &random)
                changed[index] =
                    [0, 1, 0x7F, 0xFF, UInt8.random(in: 0...255, using: &random)]
                    .randomElement(using: &random) ?? 0
            }
            let count = Int.random(in: 0...changed.count, using: &random)
            // Whatever is read can be written, and comes back.
            if let record = changed[..<count].withUnsafeBytes({ CacheRecord(head: $0) }) {
                #expect(Self.read(try Self.file(record, body: []))?.0 == record)
            }
        }
    }
}
