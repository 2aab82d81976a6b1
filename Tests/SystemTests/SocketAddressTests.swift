import Testing
import URLLoadingSystem

@Suite("SocketAddress")
struct SocketAddressTests {
    @Test(
        "numeric literals are parsed and printed back",
        arguments: [
            ("127.0.0.1", "127.0.0.1:80", SocketAddress.Family.ipv4),
            ("255.255.255.255", "255.255.255.255:80", .ipv4),
            ("::1", "[::1]:80", .ipv6),
            ("2001:DB8::0:1", "[2001:db8::1]:80", .ipv6),
            ("::ffff:10.1.2.3", "[::ffff:10.1.2.3]:80", .ipv6),
        ])
    func literals(literal: String, description: String, family: SocketAddress.Family) throws {
        let address = try #require(SocketAddress(literal: literal, port: 80))
        #expect(address.description == description)
        #expect(address.family == family)
        #expect(address.port == 80)
        #expect(SocketAddress(literal: address.host, port: 80) == address)
        #expect(address.bytes.count == (family == .ipv4 ? 4 : 16))
    }

    @Test(
        "text that is not a plain numeric address is not a literal",
        arguments: [
            "", "localhost", "127.1", "0x7f.0.0.1", "127.0.0.256", "127.0.0.1 ", "1.2.3.4.5", "[::1]", ":::", "::1%",
            "::1%nosuchinterface", "::1%0", "1.2.3.4%lo", "127.0.0.1\u{0}", "::1\u{0}x", "%lo", "fe80::1%lo%lo",
            "١٢٧.0.0.1",
        ])
    func notLiterals(text: String) {
        #expect(SocketAddress(literal: text, port: 80) == nil)
    }

    @Test("a port outside 0...65535 makes no address", arguments: [-1, 65536, Int.max, Int.min])
    func ports(port: Int) throws {
        #expect(SocketAddress(literal: "127.0.0.1", port: port) == nil)
        #expect(SocketAddress(literal: "::1", port: port) == nil)
        #expect(SocketAddress.ipv4(127, 0, 0, 1, port: port) == nil)
        let address = try #require(SocketAddress.ipv4(127, 0, 0, 1, port: 1))
        #expect(address.with(port: port) == nil)
    }

    @Test("B16.12: a zone is taken by name, by number, and percent-encoded as in a URL")
    func zones() throws {
        let byName = try #require(SocketAddress(literal: "fe80::1%lo", port: 80))
        #expect(byName.scope == 1)
        #expect(byName.host == "fe80::1%lo")
        #expect(byName.description == "[fe80::1%lo]:80")
        #expect(SocketAddress(literal: "fe80::1%25lo", port: 80) == byName)
        #expect(SocketAddress(literal: "fe80::1%1", port: 80) == byName)
        #expect(SocketAddress(literal: "fe80::1%251", port: 80) == byName)
        #expect(SocketAddress(literal: "fe80::1%25", port: 80)?.scope == 25)
        #expect(SocketAddress(literal: "fe80::1%4294967296", port: 80) == nil)
        #expect(SocketAddress(literal: "fe80::1", port: 80) != byName)
    }

    @Test("raw IPv6 bytes make the address they spell")
    func ipv6Bytes() throws {
        let bytes: [UInt8] = [0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [7]
        let address = try #require(SocketAddress.ipv6(bytes, scope: 1, port: 443))
        #expect(address.bytes == bytes)
        #expect(address.host == "fe80::7%lo")
        #expect(SocketAddress.ipv6(Array(bytes.dropLast()), port: 443) == nil)
    }

    @Test("a UNIX-domain path must fit, be there, and hold no NUL")
    func unixPaths() throws {
        let address = try #require(SocketAddress.unix("/tmp/socket"))
        #expect(address.family == .unix)
        #expect(address.port == nil)
        #expect(address.description == "/tmp/socket")
        #expect(address.with(port: 80) == address)
        #expect(SocketAddress.unix("") == nil)
        #expect(SocketAddress.unix("a\u{0}b") == nil)
        #expect(SocketAddress.unix(String(repeating: "x", count: 107)) != nil)
        #expect(SocketAddress.unix(String(repeating: "x", count: 108)) == nil)
    }

    @Test("loopback addresses are known")
    func isLoopback() {
        #expect(SocketAddress(literal: "127.9.9.9", port: 1)?.isLoopback == true)
        #expect(SocketAddress(literal: "::1", port: 1)?.isLoopback == true)
        #expect(SocketAddress(literal: "128.0.0.1", port: 1)?.isLoopback == false)
        #expect(SocketAddress(literal: "::2", port: 1)?.isLoopback == false)
    }

    @Test("a system error tells the call and the system's words")
    func systemError() {
        #expect(SystemError(errno: 111, call: "connect").description == "connect: Connection refused")
        #expect(SystemError(errno: 24, call: "socket").isShortage)
        #expect(!SystemError(errno: 111, call: "connect").isShortage)
        #expect(SystemError(errno: 99999, call: "connect").description.hasPrefix("connect: "))
    }
}
