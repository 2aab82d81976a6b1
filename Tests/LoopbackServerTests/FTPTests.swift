// The FTP server for tests, as one who knows no FTP sees it.

import Testing
import URLLoadingLoopbackServer

@Suite("FTP server")
struct FTPTests {
    @Test(
        "A place to begin at that is none is refused, and ends nothing",
        arguments: ["-5", "-9223372036854775808", "x", ""])
    func places(argument: String) throws {
        let server = try FTPServer.start { $0.files = ["/a": Array("hello".utf8)] }
        let client = try RawClient(port: server.port)
        _ = try client.read(through: "\n")
        try client.send("USER anonymous\r\nPASS x\r\n")
        _ = try client.read(through: "230 welcome\r\n")
        try client.send("REST \(argument)\r\n")
        #expect(try client.read(through: "\n") == "501 no such place\r\n")
        try client.send("SIZE /a\r\n")
        #expect(try client.read(through: "\n") == "213 5\r\n")
    }
}
