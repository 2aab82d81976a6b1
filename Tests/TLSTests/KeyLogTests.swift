import Testing
import URLLoadingLoopbackServer
import URLLoadingSystem
import URLLoadingTLS
import URLLoadingTrust

@Suite struct KeyLogTests {
    @Test("Secrets are appended to the file that a configuration names, which only its owner may read")
    func logged() throws {
        let path = Self.newPath()
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

    @Test(
        "What is no regular file gets no secrets, and a pipe without a reader holds nothing up",
        arguments: [true, false])
    func pipe(hasReader: Bool) throws {
        let path = Self.newPath()
        let made = mkfifo(path, 0o600)
        #expect(made == 0)
        defer { unlink(path) }
        let reader = hasReader ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1
        defer { if hasReader { close(reader) } }
        #expect(throws: TLSError.self) { try TLSContext(client: .init(keyLogFile: path)) }
        #expect(throws: TLSError.self) { try TLSContext(client: .init(keyLogFile: "/dev/null")) }
    }

    @Test("B16.85: where a program has closed its standard descriptors, the key log has none of their numbers")
    func standardNumbers() async {
        await #expect(processExitsWith: .success) {
            let path = Self.newPath()
            defer { unlink(path) }
            for number in Int32(0)...2 { close(number) }
            let context = try TLSContext(client: .init(keyLogFile: path))
            var (log, other) = (stat(), stat())
            let found = stat(path, &log)
            #expect(found == 0)
            for number in Int32(0)...2 {
                let isOpen = fstat(number, &other) == 0
                #expect(!isOpen || other.st_ino != log.st_ino || other.st_dev != log.st_dev)
            }
            withExtendedLifetime(context) {}
        }
    }

    private static func newPath() -> String {
        "/tmp/urlloading-keylog-\(getpid())-\(UInt64.random(in: 0 ... .max))"
    }

    private func contents(_ path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
