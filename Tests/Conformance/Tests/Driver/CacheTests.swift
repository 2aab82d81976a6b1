// Caches through the driver: the session's key, the operations, and what metrics say of a hit.

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingTestSupport

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

    @Test("A cache on disk without a directory is the session's alone, and goes with it or with the driver")
    func ownDirectories() async throws {
        let router: LoopbackServer.Router = { _ in .text("page").adding("Cache-Control", "max-age=3600") }
        try await withDriver(router: router) { driver, server in
            let cache: JSONValue = ["memory_bytes": 0, "disk_bytes": 1_000_000]
            for name in ["one", "two"] {
                try await driver.open(name, ["cache": cache])
                #expect(try await driver.result("cache.usage", ["session": .string(name)])["disk_bytes"] == 0)
                _ = try await driver.result(driver.get(server.url(), session: name))
                #expect(try await driver.result("cache.usage", ["session": .string(name)])["disk_bytes"] != 0)
            }
            #expect(server.stats.requests == 2)
            #expect(Self.directories(of: driver)?.count == 2)
            _ = try await driver.result("session.close", ["session": "one"])
            #expect(Self.directories(of: driver)?.count == 1)
            driver.closeInput()
            #expect(await driver.exitStatus() == 0)
            #expect(Self.directories(of: driver) == nil)
        }
    }

    /// What the driver has made for its sessions; nil where there is no place for that.
    private static func directories(of driver: DriverProcess) -> [String]? {
        let place = FileManager.default.temporaryDirectory
        let names = (try? FileManager.default.contentsOfDirectory(atPath: place.path)) ?? []
        return names.first { $0.hasPrefix("conformance-driver-\(driver.process)-") }.flatMap { name in
            try? FileManager.default.contentsOfDirectory(atPath: place.appending(path: name).path)
        }
    }
}
