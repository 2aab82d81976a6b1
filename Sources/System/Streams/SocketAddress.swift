// Where a socket is or goes: IPv4, IPv6 with its zone, or a UNIX-domain path. Parses and prints numeric forms only;
// names are the resolver's matter. RFC 4291, RFC 4007 (zones), RFC 6874 (zones in URLs: "%25").

/// A numeric address a stream socket can be bound or connected to.
package struct SocketAddress: Sendable, Hashable {
    /// The kind of an address.
    package enum Family: Sendable, Hashable {
        case ipv4, ipv6, unix
    }

    private enum Storage: Hashable {
        /// The address in network order as one number: 127.0.0.1 is 0x7F000001.
        case ipv4(UInt32, port: UInt16)
        case ipv6(high: UInt64, low: UInt64, scope: UInt32, port: UInt16)
        case unix(String)
    }

    private let storage: Storage

    private init(_ storage: Storage) {
        self.storage = storage
    }

    // MARK: Making one

    /// An IPv4 address; nil when the port is not one.
    package static func ipv4(_ a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8, port: Int) -> SocketAddress? {
        guard let port = UInt16(exactly: port) else { return nil }
        let number = UInt32(a) << 24 | UInt32(b) << 16 | UInt32(c) << 8 | UInt32(d)
        return SocketAddress(.ipv4(number, port: port))
    }

    /// An IPv6 address from its 16 bytes; nil when there are not 16, or the port is not one.
    package static func ipv6(_ bytes: [UInt8], scope: UInt32 = 0, port: Int) -> SocketAddress? {
        guard bytes.count == 16, let port = UInt16(exactly: port) else { return nil }
        let high = bytes[0..<8].reduce(0) { $0 << 8 | UInt64($1) }
        let low = bytes[8..<16].reduce(0) { $0 << 8 | UInt64($1) }
        return SocketAddress(.ipv6(high: high, low: low, scope: scope, port: port))
    }

    /// A path in the file system; nil when it is empty, holds a NUL or does not fit a socket address (107 bytes).
    package static func unix(_ path: String) -> SocketAddress? {
        let count = path.utf8.count
        guard count > 0, count < unixPathCapacity, !path.utf8.contains(0) else { return nil }
        return SocketAddress(.unix(path))
    }

    /// Why a path has no address, in the system's words.
    package static func problem(ofPath path: String) -> SystemError {
        let errno = path.isEmpty ? ENOENT : path.utf8.contains(0) ? EINVAL : ENAMETOOLONG
        return SystemError(errno: errno, call: "connect")
    }

    /// Parses "127.0.0.1", "::1", "fe80::1%eth0" or, as in a URL, "fe80::1%25eth0"; nil for anything else.
    ///
    /// IPv4 is four decimal numbers and nothing else. A zone that no interface bears makes the literal invalid.
    package init?(literal: String, port: Int) {
        guard let port = UInt16(exactly: port), !literal.isEmpty, !literal.utf8.contains(0) else { return nil }
        if literal.utf8.contains(UInt8(ascii: ":")) {
            self.init(ipv6Literal: literal, port: port)
            return
        }
        // Measured: most hosts are names, and each attempt to connect asks.
        guard let last = literal.utf8.last, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(last) else { return nil }
        var address = in_addr()
        guard inet_pton(AF_INET, literal, &address) == 1 else { return nil }
        self.init(.ipv4(UInt32(bigEndian: address.s_addr), port: port))
    }

    private init?(ipv6Literal literal: String, port: UInt16) {
        var host = Substring(literal)
        var scope: UInt32 = 0
        if let percent = host.firstIndex(of: "%") {
            guard let index = Self.scope(ofZone: host[host.index(after: percent)...]) else { return nil }
            scope = index
            host = host[..<percent]
        }
        var address = in6_addr()
        guard inet_pton(AF_INET6, String(host), &address) == 1 else { return nil }
        let (high, low) = Self.halves(of: address)
        self.init(.ipv6(high: high, low: low, scope: scope, port: port))
    }

    /// RFC 6874 writes a zone as "%25eth0" in a URL; callers may also pass it decoded.
    ///
    /// An interface may be called "25": then there is nothing after it.
    private static func scope(ofZone zone: Substring) -> UInt32? {
        if zone.hasPrefix("25"), zone.count > 2, let index = interfaceIndex(zone.dropFirst(2)) {
            return index
        }
        return interfaceIndex(zone)
    }

    private static func interfaceIndex(_ zone: Substring) -> UInt32? {
        let index = if_nametoindex(String(zone))
        if index != 0 {
            return index
        }
        guard zone.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }) else { return nil }
        return UInt32(zone).flatMap { $0 == 0 ? nil : $0 }
    }

    // MARK: Reading one

    /// The kind of address.
    package var family: Family {
        switch storage {
        case .ipv4: .ipv4
        case .ipv6: .ipv6
        case .unix: .unix
        }
    }

    /// The port; nil for a path.
    package var port: Int? {
        switch storage {
        case .ipv4(_, let port), .ipv6(_, _, _, let port): Int(port)
        case .unix: nil
        }
    }

    /// The address in numbers without port or brackets ("::1", "fe80::1%eth0"), or the path.
    package var host: String {
        switch storage {
        case .ipv4(let number, _):
            return "\(number >> 24).\(number >> 16 & 255).\(number >> 8 & 255).\(number & 255)"
        case .ipv6(let high, let low, let scope, _):
            let text = Self.text(high: high, low: low)
            return scope == 0 ? text : "\(text)%\(Self.zoneName(scope))"
        case .unix(let path):
            return path
        }
    }

    /// The address's bytes in network order, 4 or 16; none for a path.
    package var bytes: [UInt8] {
        switch storage {
        case .ipv4(let number, _):
            (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
        case .ipv6(let high, let low, _, _):
            (0..<8).map { UInt8(truncatingIfNeeded: high >> (56 - 8 * $0)) }
                + (0..<8).map { UInt8(truncatingIfNeeded: low >> (56 - 8 * $0)) }
        case .unix:
            []
        }
    }

    /// The zone of an IPv6 address as an interface index; 0 where there is none.
    package var scope: UInt32 {
        switch storage {
        case .ipv4, .unix: 0
        case .ipv6(_, _, let scope, _): scope
        }
    }

    /// True for 127.0.0.0/8, ::1 and paths.
    package var isLoopback: Bool {
        switch storage {
        case .ipv4(let number, _): number >> 24 == 127
        case .ipv6(let high, let low, _, _): high == 0 && low == 1
        case .unix: true
        }
    }

    /// A copy of the address with another port; a path has none and stays as it is.
    ///
    /// Nil when the port is not one.
    package func with(port: Int) -> SocketAddress? {
        guard let port = UInt16(exactly: port) else { return nil }
        switch storage {
        case .ipv4(let number, _):
            return SocketAddress(.ipv4(number, port: port))
        case .ipv6(let high, let low, let scope, _):
            return SocketAddress(.ipv6(high: high, low: low, scope: scope, port: port))
        case .unix:
            return self
        }
    }

    private static func text(high: UInt64, low: UInt64) -> String {
        var address = in6Address(high: high, low: low)
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(AF_INET6, &address, &buffer, socklen_t(buffer.count)) != nil else { return "::" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func zoneName(_ scope: UInt32) -> String {
        var buffer = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
        guard if_indextoname(scope, &buffer) != nil else { return String(scope) }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension SocketAddress: CustomStringConvertible {
    /// "127.0.0.1:80", "[::1]:80", or the path.
    package var description: String {
        switch storage {
        case .ipv4(_, let port): "\(host):\(port)"
        case .ipv6(_, _, _, let port): "[\(host)]:\(port)"
        case .unix(let path): path
        }
    }
}

// MARK: The system's form

extension SocketAddress {
    var systemFamily: Int32 {
        switch storage {
        case .ipv4: AF_INET
        case .ipv6: AF_INET6
        case .unix: AF_UNIX
        }
    }

    /// Hands out the address as `connect` and `bind` want it.
    func withSystemAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        switch storage {
        case .ipv4(let number, let port):
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = number.bigEndian
            return Self.lend(&address, body)
        case .ipv6(let high, let low, let scope, let port):
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            address.sin6_addr = Self.in6Address(high: high, low: low)
            address.sin6_scope_id = scope
            return Self.lend(&address, body)
        case .unix(let path):
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
            return Self.lend(&address, body)
        }
    }

    /// Reads an address the system filled in; nil for families this type does not know and for unnamed UNIX sockets.
    init?(system pointer: UnsafePointer<sockaddr>, length: socklen_t) {
        let raw = UnsafeRawBufferPointer(start: pointer, count: Int(length))
        guard raw.count >= MemoryLayout<sa_family_t>.size else { return nil }
        switch Int32(raw.loadUnaligned(as: sa_family_t.self)) {
        case AF_INET where raw.count >= MemoryLayout<sockaddr_in>.size:
            let address = raw.loadUnaligned(as: sockaddr_in.self)
            self.init(.ipv4(UInt32(bigEndian: address.sin_addr.s_addr), port: UInt16(bigEndian: address.sin_port)))
        case AF_INET6 where raw.count >= MemoryLayout<sockaddr_in6>.size:
            let address = raw.loadUnaligned(as: sockaddr_in6.self)
            let (high, low) = Self.halves(of: address.sin6_addr)
            let port = UInt16(bigEndian: address.sin6_port)
            self.init(.ipv6(high: high, low: low, scope: address.sin6_scope_id, port: port))
        case AF_UNIX:
            let path = raw.dropFirst(MemoryLayout<sa_family_t>.size).prefix { $0 != 0 }
            guard !path.isEmpty else { return nil }
            self.init(.unix(String(decoding: path, as: UTF8.self)))
        default:
            return nil
        }
    }

    /// Asks the system for an address of `descriptor` with `call` (`getsockname` or `getpeername`).
    static func ask(
        _ descriptor: Int32,
        _ call: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> SocketAddress? {
        var storage = sockaddr_storage()
        return withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
                guard call(descriptor, pointer, &length) == 0 else { return nil }
                return SocketAddress(
                    system: pointer, length: min(length, socklen_t(MemoryLayout<sockaddr_storage>.size)))
            }
        }
    }

    /// The address `descriptor` is bound to.
    static func local(of descriptor: Int32) -> SocketAddress? {
        ask(descriptor) { getsockname($0, $1, $2) }
    }

    /// The address `descriptor` is connected to.
    static func remote(of descriptor: Int32) -> SocketAddress? {
        ask(descriptor) { getpeername($0, $1, $2) }
    }

    private static func lend<Address, Result>(
        _ address: inout Address, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<Address>.size))
            }
        }
    }

    private static func in6Address(high: UInt64, low: UInt64) -> in6_addr {
        var address = in6_addr()
        withUnsafeMutableBytes(of: &address) { bytes in
            bytes.storeBytes(of: high.bigEndian, toByteOffset: 0, as: UInt64.self)
            bytes.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        return address
    }

    private static func halves(of address: in6_addr) -> (UInt64, UInt64) {
        withUnsafeBytes(of: address) { bytes in
            let high = bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)
            let low = bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
            return (UInt64(bigEndian: high), UInt64(bigEndian: low))
        }
    }
}

/// `sun_path` with its final NUL.
private let unixPathCapacity = MemoryLayout.size(ofValue: sockaddr_un().sun_path)
