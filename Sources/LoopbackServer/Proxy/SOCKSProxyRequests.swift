// The proxy's side of SOCKS 4, 4A and 5 (RFC 1928, RFC 1929): what a client says, as far as it has come. Bytes in,
// wishes out; knows no sockets.

/// Reads one client's SOCKS messages.
final class SOCKSProxyRequests {
    enum Wish {
        case send([UInt8])
        /// These bytes, and then the end.
        case refuse([UInt8])
        case open(isVersion5: Bool, host: String, port: Int)
    }

    private enum Phase { case greeting, password, request }

    private let credentials: (user: String, password: String)?
    private var phase = Phase.greeting

    init(_ credentials: (user: String, password: String)?) {
        self.credentials = credentials
    }

    /// Takes the next message out of `inbox`; nil when it is not whole yet.
    func next(_ inbox: inout [UInt8]) -> Wish? {
        var reader = Reader(inbox)
        guard let version = reader.byte() else { return nil }
        let wish: Wish?
        switch (phase, version) {
        case (.greeting, 4): wish = request4(&reader)
        case (.greeting, 5): wish = greeting(&reader)
        case (.password, 1): wish = password(&reader)
        case (.request, 5): wish = request5(&reader)
        default: wish = .refuse([])
        }
        if wish != nil { inbox.removeFirst(reader.used) }
        return wish
    }

    static func reply(_ isVersion5: Bool, isOpen: Bool) -> [UInt8] {
        isVersion5 ? [5, isOpen ? 0 : 5, 0, 1, 0, 0, 0, 0, 0, 0] : [0, isOpen ? 90 : 91, 0, 0, 0, 0, 0, 0]
    }

    private func greeting(_ reader: inout Reader) -> Wish? {
        guard let count = reader.byte(), let methods = reader.bytes(Int(count)) else { return nil }
        let wanted: UInt8 = credentials == nil ? 0 : 2
        guard methods.contains(wanted) else { return .refuse([5, 0xFF]) }
        phase = credentials == nil ? .request : .password
        return .send([5, wanted])
    }

    private func password(_ reader: inout Reader) -> Wish? {
        guard let userCount = reader.byte(), let user = reader.bytes(Int(userCount)),
            let passwordCount = reader.byte(), let password = reader.bytes(Int(passwordCount))
        else { return nil }
        guard let credentials, user == Array(credentials.user.utf8), password == Array(credentials.password.utf8)
        else { return .refuse([1, 1]) }
        phase = .request
        return .send([1, 0])
    }

    private func request5(_ reader: inout Reader) -> Wish? {
        guard let head = reader.bytes(3) else { return nil }
        let host: String
        switch head[2] {
        case 1:
            guard let address = reader.bytes(4) else { return nil }
            host = Self.ipv4(address)
        case 3:
            guard let count = reader.byte(), let name = reader.bytes(Int(count)) else { return nil }
            host = String(decoding: name, as: UTF8.self)
        case 4:
            guard let address = reader.bytes(16) else { return nil }
            host = stride(from: 0, to: 16, by: 2).map {
                String(UInt16(address[$0]) << 8 | UInt16(address[$0 + 1]), radix: 16)
            }.joined(separator: ":")
        default: return .refuse([5, 8, 0, 1, 0, 0, 0, 0, 0, 0])
        }
        guard let port = reader.bytes(2) else { return nil }
        guard head[0] == 1 else { return .refuse([5, 7, 0, 1, 0, 0, 0, 0, 0, 0]) }
        return .open(isVersion5: true, host: host, port: Int(port[0]) << 8 | Int(port[1]))
    }

    private func request4(_ reader: inout Reader) -> Wish? {
        guard let head = reader.bytes(7), let user = reader.text() else { return nil }
        let (port, address) = (Int(head[1]) << 8 | Int(head[2]), Array(head[3...]))
        var host = Self.ipv4(address)
        if address[..<3] == [0, 0, 0], address[3] != 0 {
            guard let name = reader.text() else { return nil }
            host = name
        }
        guard head[0] == 1 else { return .refuse(Self.reply(false, isOpen: false)) }
        if let credentials, credentials.user != user { return .refuse([0, 93, 0, 0, 0, 0, 0, 0]) }
        return .open(isVersion5: false, host: host, port: port)
    }

    private static func ipv4(_ address: [UInt8]) -> String { address.map { "\($0)" }.joined(separator: ".") }

    /// Takes bytes one after the other from what has come.
    private struct Reader {
        private let input: [UInt8]
        private(set) var used = 0

        init(_ input: [UInt8]) { self.input = input }

        mutating func byte() -> UInt8? { bytes(1)?.first }

        mutating func bytes(_ count: Int) -> [UInt8]? {
            guard input.count - used >= count else { return nil }
            defer { used += count }
            return Array(input[used..<used + count])
        }

        /// Up to a NUL.
        mutating func text() -> String? {
            guard let end = input[used...].firstIndex(of: 0) else { return nil }
            defer { used = end + 1 }
            return String(decoding: input[used..<end], as: UTF8.self)
        }
    }
}
