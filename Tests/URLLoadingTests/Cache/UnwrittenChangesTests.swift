// What of a cache's changes waits for the disk, as a value: how much of it, and which words about a key stand (B7.8).

import Foundation
import Testing
import URLLoadingPolicy

@testable import URLLoading

@Suite("Changes of a cache on their way to the disk")
struct UnwrittenChangesTests {
    private let limit = UnwrittenChanges.maximumBytes

    private func key(_ number: Int) throws -> CacheKey { try #require(CacheKey("https://h.example/\(number)")) }

    /// An answer with a body of this length.
    private func answer(_ count: Int, fields: [String: String] = [:]) throws -> UnwrittenChanges.Change {
        let url = "https://h.example/"
        let response = try Stored.response(url, fields: fields).response
        let (cached, answer) = CachedURLResponse(response: response, data: Data(count: count))
            .prepared(for: try Stored.request(url), at: WallTime(seconds: 0))
        return .stored(CacheStore.Entry(response: cached, answer: answer, storedAt: 0))
    }

    /// The length of the body that is to be written for a key; nil where what is on disk is to be removed.
    private func length(_ key: CacheKey, in changes: UnwrittenChanges) -> Int? {
        if case .stored(let entry) = changes[key] { entry.response.data.count } else { nil }
    }

    @Test("B7.8: an answer of any length is written where nothing else waits, also in the place of an older one")
    func alone() throws {
        var changes = UnwrittenChanges()
        let key = try key(1)
        for count in [limit + 1, limit + 2] {
            _ = changes.note(try answer(count), for: key)
            #expect(length(key, in: changes) == count)
        }
        let next = changes.next()
        changes.done(try #require(next))
        #expect(changes[key] == nil)
        _ = changes.note(try answer(limit + 3), for: key)
        #expect(length(key, in: changes) == limit + 3)
    }

    @Test("B7.8: an answer for which there is no room beside others that wait is lost, and what is on disk is removed")
    func beside() throws {
        var changes = UnwrittenChanges()
        let (first, second, third) = (try key(1), try key(2), try key(3))
        _ = changes.note(try answer(limit - limit / 4), for: first)
        _ = changes.note(try answer(limit / 2), for: second)
        #expect(length(first, in: changes) == limit - limit / 4)
        #expect(changes[second] != nil && length(second, in: changes) == nil)
        _ = changes.note(try answer(limit / 8), for: third)
        #expect(length(third, in: changes) == limit / 8)
    }

    @Test("B7.105: what waits for the disk counts with its head")
    func heads() throws {
        var changes = UnwrittenChanges()
        let fields = ["X-Long": String(repeating: "x", count: limit / 4 * 3)]
        let (first, second) = (try key(1), try key(2))
        _ = changes.note(try answer(0, fields: fields), for: first)
        _ = changes.note(try answer(0, fields: fields), for: second)
        #expect(length(first, in: changes) == 0)
        #expect(changes[second] != nil && length(second, in: changes) == nil)
    }
}
