// Whether this machine has a network at all, and an address; asked only after something has failed, or nothing has
// happened for a while (B17.20, B17.52, B16.84).

/// Knows of the machine's interfaces.
package enum NetworkPresence {
    /// Whether an interface besides loopback is up and has an internet address.
    package static var hasInterface: Bool {
        anyInterface { entry in
            let flags = entry.ifa_flags
            let family = entry.ifa_addr.map { Int32($0.pointee.sa_family) }
            return flags & up != 0 && flags & loopback == 0 && (family == AF_INET || family == AF_INET6)
        }
    }

    /// Whether it is certain that no socket of this machine can have this address.
    package static func lacks(_ address: SocketAddress) -> Bool {
        guard let place = address.with(port: 0), let socket = try? Platform.socket(family: place.systemFamily) else {
            return false
        }
        Platform.bindWithoutPort(socket.raw)
        let outcome = Platform.bind(socket.raw, to: place)
        guard outcome.failed, outcome.error == EADDRNOTAVAIL else { return false }
        // A socket that is bound to no interface cannot have an address of a routing domain of its own (VRF). To look
        // through all interfaces takes long where there are many.
        return !anyInterface { entry in
            guard let pointer = entry.ifa_addr else { return false }
            let family = Int32(pointer.pointee.sa_family)
            let size = family == AF_INET ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
            guard family == AF_INET || family == AF_INET6 else { return false }
            return SocketAddress(system: pointer, length: socklen_t(size))?.with(port: 0) == place
        }
    }

    /// Whether this is true of one of the addresses of interfaces, or these cannot be known.
    private static func anyInterface(_ isIt: (ifaddrs) -> Bool) -> Bool {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return true }
        defer { freeifaddrs(list) }
        var next = list
        while let entry = next {
            if isIt(entry.pointee) { return true }
            next = entry.pointee.ifa_next
        }
        return false
    }

    // The imported constants differ in type between C libraries; their values are those of the kernel.
    private static let up: UInt32 = 0x1
    private static let loopback: UInt32 = 0x8
}
