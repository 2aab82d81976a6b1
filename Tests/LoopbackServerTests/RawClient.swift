// A client that writes and reads bytes and knows no HTTP, so that what the server sends is seen as it is. It blocks its
// thread; the server has a thread of its own, so that this cannot hold it up.

import URLLoadingSystem

/// A blocking connection to a server on this machine.
final class RawClient {
    enum ClientError: Error {
        case system(String, Int32)
    }

    /// How the server's side ended.
    enum End: Equatable {
        case finished
        case reset
    }

    private let descriptor: Int32
    private let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 1)
    private var received: [UInt8] = []

    init(port: Int, receiveBuffer: Int32? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw ClientError.system("socket", errno) }
        if var size = receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        // A safety net only: a test that gets here has failed.
        var patience = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        try Self.connect(descriptor, &address)
    }

    init(unixPath: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw ClientError.system("socket", errno) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: unixPath.utf8.prefix($0.count - 1)) }
        try Self.connect(descriptor, &address)
    }

    deinit {
        scratch.deallocate()
        close(descriptor)
    }

    func send(_ text: String) throws {
        try send(Array(text.utf8))
    }

    func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { bytes in
                Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            guard sent > 0 else { throw ClientError.system("send", errno) }
            rest = rest.dropFirst(sent)
        }
    }

    /// The port of this end.
    var localPort: Int {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    func finishSending() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Reads until the text has arrived; what came up to its end.
    func read(through text: String) throws -> String {
        String(decoding: try read(throughBytes: Array(text.utf8)), as: UTF8.self)
    }

    /// Reads until these bytes have arrived; what came up to their end, or all where the server has ended its side.
    func read(throughBytes mark: [UInt8]) throws -> [UInt8] {
        while true {
            if let end = position(after: mark) {
                let found = received[..<end]
                received = Array(received[end...])
                return Array(found)
            }
            guard try readSome() > 0 else { return takeRead() }
        }
    }

    /// Reads so many bytes.
    func read(count: Int) throws -> [UInt8] {
        while received.count < count, try readSome() > 0 {}
        let found = Array(received.prefix(count))
        received = Array(received.dropFirst(count))
        return found
    }

    /// Reads until the server ends its side.
    func readToEnd() throws -> (text: String, end: End) {
        do {
            while try readSome() > 0 {}
        } catch ClientError.system(_, ECONNRESET) {
            return (try takeRest(), .reset)
        }
        return (try takeRest(), .finished)
    }

    /// Whatever comes next; empty where the server has ended its side.
    func readSome() throws -> [UInt8] {
        defer { received = [] }
        let _: Int = try readSome()
        return received
    }

    /// Takes the bytes that were read and that no call has returned yet.
    func takeRead() -> [UInt8] {
        defer { received = [] }
        return received
    }

    private func takeRest() throws -> String {
        String(decoding: takeRead(), as: UTF8.self)
    }

    private func readSome() throws -> Int {
        let count = recv(descriptor, scratch.baseAddress, scratch.count, 0)
        guard count >= 0 else { throw ClientError.system("recv", errno) }
        received.append(contentsOf: scratch.prefix(count))
        return count
    }

    private func position(after mark: [UInt8]) -> Int? {
        guard received.count >= mark.count else { return nil }
        return (0...(received.count - mark.count))
            .first { received[$0..<($0 + mark.count)].elementsEqual(mark) }
            .map { $0 + mark.count }
    }

    private static func connect<Address>(_ descriptor: Int32, _ address: inout Address) throws {
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
            }
        }
        // The descriptor is closed by the deinit, which runs for an object whose making fails here, too.
        guard result == 0 else { throw ClientError.system("connect", errno) }
    }
}
