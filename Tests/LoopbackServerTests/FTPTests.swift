// The FTP server for tests, seen by a client that sends and reads raw bytes.

import Testing
import URLLoadingLoopbackServer

@Suite("FTP server")
struct FTPTests {
    @Test(
        "An offset that is not a number is refused, and the connection goes on",
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
