// What the first message of a handshake offers, read from its bytes (RFC 8446 §4.1.2).

import Testing
import URLLoadingTLS

@Suite struct ClientHelloTests {
    /// The numbers of the extensions in a record that holds a ClientHello; nil where the bytes are no such thing.
    private func extensions(of record: [UInt8]) -> [Int]? {
        var rest = record[...]
        func number(_ size: Int) -> Int? {
            guard rest.count >= size else { return nil }
            defer { rest = rest.dropFirst(size) }
            return rest.prefix(size).reduce(0) { $0 << 8 | Int($1) }
        }
        func skip(lengthOf size: Int) -> Bool {
            guard let length = number(size), rest.count >= length else { return false }
            rest = rest.dropFirst(length)
            return true
        }
        // Record header, type and length of the message, version, random.
        guard number(1) == 22, number(4) != nil, number(1) == 1, number(3) != nil, number(2) != nil, rest.count >= 32
        else { return nil }
        rest = rest.dropFirst(32)
        // Session, ciphers, compression.
        guard skip(lengthOf: 1), skip(lengthOf: 2), skip(lengthOf: 1), let length = number(2), rest.count >= length
        else { return nil }
        rest = rest.prefix(length)
        var found: [Int] = []
        while !rest.isEmpty {
            guard let kind = number(2), skip(lengthOf: 2) else { return nil }
            found.append(kind)
        }
        return found
    }

    @Test(
        "B2.106, H1.13: certificates after the handshake are not offered, in TLS 1.3 either, so that a server cannot ask for one"
    )
    func noLateCertificates() throws {
        let pair = try TLSPair(client: .init(minimum: .v13), server: Made.serverOptions())
        pair.shakeHands()
        let extensions = try #require(self.extensions(of: pair.sentByClient))
        // server_name and key_share are there, so this is the message; post_handshake_auth is number 49.
        #expect(extensions.contains(0) && extensions.contains(51))
        #expect(!extensions.contains(49))
    }
}
