// Caches through the driver: the session's key, the operations, and what metrics say of a hit.

import Foundation
import LoopbackServer
import TestSupport
import Testing

@Suite("The driver's caches")
struct CacheTests {
    @Test("A session has no cache unless it asks for one, which can be asked how full it is, and emptied")
    func caches() async throws {
        let router: LoopbackServer.Router = { _ in .text("page").adding("Cache-Control", "max-age=3600") }
        try await withDriver(router: router) { driver, server in
            try await driver.open("with", ["cache": ["memory_bytes": 1_000_000, "disk_bytes": 0]])
            try await driver.open("without", ["cache": .null])
            for name in ["with", "with", "without", "without"] {
                let result = try await driver.result(driver.get(server.url(), session: name))
                #expect(result["body_base64"]?.data == Data("page".utf8))
            }
            #expect(server.stats.requests == 3)
            let full = try await driver.result("cache.usage", ["session": "with"])
            #expect(full["memory_bytes"] != 0 && full["disk_bytes"] == 0)
            _ = try await driver.result("cache.clear", ["session": "with"])
            #expect(try await driver.result("cache.usage", ["session": "with"])["memory_bytes"] == 0)
            #expect(try await driver.result("cache.usage", ["session": "without"])["memory_bytes"] == 0)
        }
    }
}
