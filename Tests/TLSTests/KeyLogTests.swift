import Testing
import URLLoadingLoopbackServer
import URLLoadingSystem
import URLLoadingTLS
import URLLoadingTrust

@Suite struct KeyLogTests {
    @Test("Secrets are appended to the file that a configuration names, which only its owner may read")
    func logged() throws {
        let path = "/tmp/urlloading-keylog-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        defer { unlink(path) }
        for _ in 0..<2 {
            let pair = try TLSPair(client: .init(keyLogFile: path), server: Made.serverOptions())
            pair.shakeHands()
            #expect(pair.client.end?.isFinished == true)
        }
        var status = stat()
        let found = stat(path, &status)
        #expect(found == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        let text = try #require(contents(path))
        #expect(text.split(separator: "\n").filter { $0.hasPrefix("CLIENT_TRAFFIC_SECRET_0 ") }.count == 2)
    }

    @Test("A key log that cannot be opened is an error, not silence")
    func unwritable() {
        #expect(throws: TLSError.self) { try TLSContext(client: .init(keyLogFile: "/nowhere/keys.log")) }
    }

    private func contents(_ path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
