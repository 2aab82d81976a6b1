// A cache on disk with many answers in it. They are put there before anything is counted.

import Foundation
import URLLoading
import URLLoadingPolicy
import URLLoadingWire

/// A directory with as many answers as the size says.
struct DiskGrowth {
    let size: Int
    let directory: String
    private let body = [UInt8](repeating: 0x78, count: 1_024)

    init(size: Int, directory: String) {
        self.size = size
        self.directory = directory
    }

    /// Puts them there.
    func fill() throws { try store(0..<size, in: opened()) }

    /// So many more stored.
    func store(_ times: Int) throws {
        // New ones in every process: to replace an answer is other work.
        let first = size + Int(getpid()) * 1_000_000
        try store(first..<(first + times), in: opened())
    }

    /// So many found.
    func find(_ times: Int) throws {
        let cache = try opened()
        for number in 0..<times {
            try expect(CacheKey(url(number &* 7_919 % size)).flatMap { cache.entry(for: $0) } != nil)
        }
    }

    /// Opened so many times, and asked what is there.
    func open(_ times: Int) throws {
        for _ in 0..<times { try expect(opened().byteCount >= size * body.count) }
    }

    private func opened() throws -> DiskCache {
        guard let cache = DiskCache(directory: directory, capacity: .max / 2) else {
            throw HarnessError("\(directory) can be no cache")
        }
        return cache
    }

    private func store(_ numbers: Range<Int>, in cache: DiskCache) throws {
        var fields = Fields()
        fields.append("Cache-Control", "max-age=3600")
        fields.append("Content-Type", "text/plain")
        let time = WallTime(seconds: 1_700_000_000)
        for number in numbers {
            let selection = Selection(answer: fields, request: Fields(), salt: SipHash.Words(1, 2))
            let answer = StoredAnswer(
                status: 200, fields: fields, requestTime: time, responseTime: time, selection: selection)
            let record = CacheRecord(
                key: url(number), url: url(number), answer: answer, isHTTP: true, expectedLength: Int64(body.count),
                storedAt: 1_700_000_000_000_000)
            try expect(body.withUnsafeBytes { cache.store(record, body: $0) })
        }
    }

    private func url(_ number: Int) -> String { "http://example.org/answers/\(number)" }

    private func expect(_ condition: Bool) throws {
        if !condition { throw HarnessError("the cache has not what was stored") }
    }
}
