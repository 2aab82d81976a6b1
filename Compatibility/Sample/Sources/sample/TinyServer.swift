// Answers every request with the same JSON, one connection after the other, on a thread of its own.

import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A server for as long as the program runs.
struct TinyServer {
    let port: UInt16

    /// Starts to listen on a free port of the loopback interface; `nil` if that is refused.
    init?(answering body: String) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 8) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard listener >= 0, isBound else { return nil }
        port = UInt16(bigEndian: address.sin_port)
        let answer = """
            HTTP/1.1 200 OK\r
            Content-Type: application/json; charset=utf-8\r
            Content-Length: \(body.utf8.count)\r
            Connection: close\r
            \r
            \(body)
            """
        Thread.detachNewThread { Self.serve(listener, answer) }
    }

    private static func serve(_ listener: Int32, _ answer: String) {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while true {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else { return }
            // A request without a body ends with an empty line.
            var request = ""
            while !request.contains("\r\n\r\n") {
                let count = read(connection, &bytes, bytes.count)
                guard count > 0 else { break }
                request += String(decoding: bytes.prefix(count), as: UTF8.self)
            }
            _ = Array(answer.utf8).withUnsafeBytes { write(connection, $0.baseAddress, $0.count) }
            close(connection)
        }
    }
}
