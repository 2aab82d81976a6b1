// What is known of a port of this machine from outside: whether it can be had, and whether a server listens there.

import Foundation

enum LoopbackPort {
    /// Whether no server listens on a port.
    ///
    /// Found out by having it for a moment, without listening: a child that is being started for another test holds our
    /// descriptors too until it executes its program, and a listener that lives on in it would accept clients that look
    /// for the peer, and keep the peer from its port.
    static func isFree(_ port: Int) -> Bool {
        withSocket(AF_INET) { descriptor in
            var yes: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
            return withIPv4(port) { bind(descriptor, $0, $1) == 0 }
        }
    }

    /// Whether a port accepts connections.
    static func isListening(_ port: Int, isIPv6: Bool = false) -> Bool {
        withSocket(isIPv6 ? AF_INET6 : AF_INET) { descriptor in
            isIPv6
                ? withIPv6(port) { connect(descriptor, $0, $1) == 0 }
                : withIPv4(port) { connect(descriptor, $0, $1) == 0 }
        }
    }

    private static func withSocket(_ family: Int32, _ body: (Int32) -> Bool) -> Bool {
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return body(descriptor)
    }

    private static func withIPv4(_ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Bool) -> Bool {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(clamping: port)).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withBytes(of: &address, body)
    }

    private static func withIPv6(_ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Bool) -> Bool {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = in_port_t(UInt16(clamping: port)).bigEndian
        address.sin6_addr = in6addr_loopback
        return withBytes(of: &address, body)
    }

    private static func withBytes<Address>(
        of address: inout Address, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Bool
    ) -> Bool {
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<Address>.size))
            }
        }
    }
}
