// What stands around the parts of a form: as it is written, and as it is read again.

import Testing
import URLLoadingTestSupport
import URLLoadingWire

@Suite("Multipart forms")
struct MultipartEncoderTests {
    private static func head(_ name: String, _ fileName: String? = nil, _ type: String? = nil) -> String {
        let bytes = MultipartEncoder.head(boundary: "b", name: name, fileName: fileName, type: type)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("B5.91: a part's head")
    func heads() {
        let field = "--b\r\nContent-Disposition: form-data; name="
        #expect(Self.head("town") == field + "\"town\"\r\n\r\n")
        #expect(Self.head("f", "a.txt") == field + "\"f\"; filename=\"a.txt\"\r\n\r\n")
        #expect(
            Self.head("f", "a.txt", "text/plain; charset=\"utf-8\"")
                == field + "\"f\"; filename=\"a.txt\"\r\nContent-Type: text/plain; charset=\"utf-8\"\r\n\r\n")
        #expect(Self.head("", "") == field + "\"\"; filename=\"\"\r\n\r\n")
        #expect(String(decoding: MultipartEncoder.end(boundary: "b"), as: UTF8.self) == "--b--\r\n")
    }

    @Test(
        "B5.92: names are escaped as browsers do it, and nothing else of them",
        arguments: [
            ("a\"b", "a%22b"), ("a\rb", "a%0Db"), ("a\nb", "a%0Ab"), ("a\r\nb", "a%0D%0Ab"), ("Größe…", "Größe…"),
            ("a%22b", "a%22b"), ("a\\b;c='d'", "a\\b;c='d'"), ("\t ", "\t "), ("日本", "日本"),
        ])
    func escapes(name: String, written: String) {
        let expected = "--b\r\nContent-Disposition: form-data; name=\"\(written)\"; filename=\"\(written)\"\r\n\r\n"
        #expect(Self.head(name, name) == expected)
    }

    @Test("B5.92: no type can end its line")
    func types() {
        #expect(Self.head("a", nil, "x/y\r\nEvil: 1").hasSuffix("\r\nContent-Type: x/y%0D%0AEvil: 1\r\n\r\n"))
    }

    @Test("B5.91: the parts that were written are read back equal", arguments: 0..<200)
    func walk(seed: Int) throws {
        var random = SeededRandom(seed: 0xF0, of: seed)
        let pool = ["\r", "\n", "\r\n", "-", "--", "--b", "\r\n--", "\r\n--bb", "x", "", "\0", "ä", "--bo-"]
        let bodies = (0..<Int.random(in: 0...4, using: &random)).map { _ in
            (0..<Int.random(in: 0...9, using: &random)).map { _ in pool.randomElement(using: &random) ?? "" }.joined()
        }
        var bytes: [UInt8] = []
        for (number, body) in bodies.enumerated() {
            bytes += MultipartEncoder.head(boundary: "bound", name: "\(number)", fileName: nil, type: "a/b")
            bytes += Array(body.utf8) + MultipartEncoder.partEnd
        }
        bytes += MultipartEncoder.end(boundary: "bound")
        var read: [String] = []
        var names: [String] = []
        guard var decoder = MultipartDecoder(boundary: "bound") else {
            Issue.record("no decoder")
            return
        }
        var (offset, hasEnded) = (0, false)
        while offset < bytes.count {
            switch try decoder.next(bytes.span.bytes, offset: &offset) {
            case .needMore: break
            case .part(let fields):
                names.append(fields.first("Content-Disposition") ?? "")
                read.append("")
            case .body(let range): read[read.count - 1] += String(decoding: bytes[range], as: UTF8.self)
            case .heldBody(let held): read[read.count - 1] += String(decoding: held, as: UTF8.self)
            case .end: hasEnded = true
            }
        }
        #expect(hasEnded)
        #expect(read.map { Array($0.utf8) } == bodies.map { Array($0.utf8) })
        #expect(names == bodies.indices.map { "form-data; name=\"\($0)\"" })
    }
}
