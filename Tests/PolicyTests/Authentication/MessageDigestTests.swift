// The hash functions by the examples of their documents.

import Testing
import URLLoadingPolicy
import URLLoadingTestSupport
import URLLoadingTrust

@Suite("Hash functions")
struct MessageDigestTests {
    private static let digits = String(repeating: "1234567890", count: 8)
    private static let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

    @Test(
        "R1320 appendix A.5: MD4 of the examples",
        arguments: [
            ("", "31d6cfe0d16ae931b73c59d7e0c089c0"), ("a", "bde52cb31de33e46245e05fbdbd6fb24"),
            ("abc", "a448017aaf21d8525fc10ae87aa6729d"), ("message digest", "d9130a8164549fe818874806e1c7014b"),
            ("abcdefghijklmnopqrstuvwxyz", "d79e1c308aa5bbcdeea8ed63df412da9"),
            (letters, "043f8582f241db351ce627e153e7f0e4"), (digits, "e33b4ddc9c38f2199c3e7b164fcc0536"),
        ])
    func md4(text: String, hash: String) {
        #expect(Hexadecimal.text(MD4.hash(text.utf8)) == hash)
    }

    @Test(
        "R1321 appendix A.5: MD5 of the examples",
        arguments: [
            ("", "d41d8cd98f00b204e9800998ecf8427e"), ("a", "0cc175b9c0f1b6a831c399e269772661"),
            ("abc", "900150983cd24fb0d6963f7d28e17f72"), ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
            ("abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"),
            (letters, "d174ab98d277d9f5a5611c2c9f419d9f"), (digits, "57edf4a22be3c955ac49da2e2107b67a"),
        ])
    func md5(text: String, hash: String) {
        #expect(Hexadecimal.text(MD5.hash(text.utf8)) == hash)
    }

    @Test("R1321 §3: it does not matter how the bytes are cut, at every length around a block")
    func cutting() {
        for length in 0...130 {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            let (md4, md5) = (MD4.hash(bytes), MD5.hash(bytes))
            for place in 0...length {
                var (fourth, fifth) = (MD4(), MD5())
                for part in [bytes[..<place], bytes[place...]] {
                    fourth.update(part)
                    fifth.update(part)
                }
                #expect(fourth.finished() == md4 && fifth.finished() == md5, "\(place) of \(length)")
            }
        }
    }

    @Test("R2202 §2: HMAC-MD5 of the examples, a key longer than a block among them")
    func hmac() {
        let examples: [(key: [UInt8], data: [UInt8], code: String)] = [
            ([UInt8](repeating: 0x0B, count: 16), Array("Hi There".utf8), "9294727a3638bb1c13f48ef8158bfc9d"),
            (Array("Jefe".utf8), Array("what do ya want for nothing?".utf8), "750c783e6ab0b503eaa86e310a5db738"),
            (
                [UInt8](repeating: 0xAA, count: 16), [UInt8](repeating: 0xDD, count: 50),
                "56be34521d144c88dbb8c733f0e8b3f6"
            ),
            (
                [UInt8](repeating: 0xAA, count: 80),
                Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
                "6b1ab7fe4bd7bf8f0b62e6ce61b9d0cd"
            ),
        ]
        for example in examples {
            #expect(Hexadecimal.text(HMACMD5.code(example.data, key: example.key)) == example.code)
        }
    }

    @Test("FIPS 180-4: SHA-256 and SHA-512/256 of \"abc\"; the latter is not half of SHA-512")
    func sha2() throws {
        let abc = Array("abc".utf8)
        #expect(
            Hexadecimal.text(try #require(HashFunctions.openSSL.hash(.sha256, abc)))
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(
            Hexadecimal.text(try #require(HashFunctions.openSSL.hash(.sha512_256, abc)))
                == "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23")
        #expect(HashFunctions.openSSL.hash(.md5, abc) == MD5.hash(abc))
    }

    @Test("FIPS 180-4: pieces hash like the whole", arguments: [SecureHash.sha256, .sha512_256])
    func pieces(hash: SecureHash) throws {
        let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }
        let stream = try #require(SecureHashStream(hash))
        for start in stride(from: 0, to: bytes.count, by: 77) {
            bytes[start..<min(start + 77, bytes.count)].withUnsafeBytes { stream.update($0) }
        }
        [UInt8]().withUnsafeBytes { stream.update($0) }
        #expect(stream.finished() == hash.hash(bytes))
        #expect(stream.finished() == nil)
    }
}
