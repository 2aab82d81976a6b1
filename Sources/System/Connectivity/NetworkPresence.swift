// Whether this machine has a network at all; asked only after something has failed (B17.20, B17.52).

/// Knows of the machine's interfaces.
package enum NetworkPresence {
    /// Whether an interface besides loopback is up and has an internet address.
    package static var hasInterface: Bool {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return true }
        defer { freeifaddrs(list) }
        var next = list
        while let entry = next {
            let flags = entry.pointee.ifa_flags
            let family = entry.pointee.ifa_addr.map { Int32($0.pointee.sa_family) }
            if flags & up != 0, flags & loopback == 0, family == AF_INET || family == AF_INET6 { return true }
            next = entry.pointee.ifa_next
        }
        return false
    }

    // The imported constants differ in type between C libraries; their values are those of the kernel.
    private static let up: UInt32 = 0x1
    private static let loopback: UInt32 = 0x8
}
