// Bodies that Caddy compresses with Zstandard.

import Foundation
import Testing
import URLLoading
import URLLoadingWire

@Suite(
    "Caddy", .enabled(if: Peers.caddy != nil, "caddy is not installed"),
    .enabled(if: CodingLibraries.system.zstandard != nil, "libzstd.so.1 is not installed"))
struct CaddyTests {
    @Test("B16.51: a body that Caddy compresses with Zstandard arrives as it was")
    func zstandard() async throws {
        let caddy = try await Caddy()
        let session = URLSession(configuration: .uncached)
        let url = try #require(URL(string: "http://127.0.0.1:\(caddy.port)/long.txt"))
        let (data, response) = try await session.data(from: url)
        #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Content-Encoding") == "zstd")
        #expect(String(decoding: data, as: UTF8.self) == String(repeating: "the same again, ", count: 4096))
        session.invalidateAndCancel()
    }
}
