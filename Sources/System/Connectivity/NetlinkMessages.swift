// What the kernel's routing socket says, read from the bytes of one datagram (rtnetlink(7), netlink(7)).
//
// A pure reader: it must not know sockets, nor which observer wants to hear of a change. Numbers are in the machine's
// own byte order, as the kernel writes them.

/// What has changed about the machine's network.
package struct NetworkChanges: OptionSet, Sendable, CustomStringConvertible {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    /// A link, an address or a route came, or changed.
    package static let appeared = NetworkChanges(rawValue: 1)
    /// A link, an address or a route went.
    package static let vanished = NetworkChanges(rawValue: 2)
    /// Messages were lost or could not be read: anything may have changed.
    package static let unknown = NetworkChanges(rawValue: 4)

    /// Whether a connection that found no way may find one now.
    package var mayHaveOpenedAWay: Bool { !isDisjoint(with: [.appeared, .unknown]) }

    /// The names of what is in it.
    package var description: String {
        let names: [(NetworkChanges, String)] = [
            (.appeared, "appeared"), (.vanished, "vanished"), (.unknown, "unknown"),
        ]
        return names.filter { contains($0.0) }.map(\.1).joined(separator: " ")
    }
}

/// Reads datagrams of a routing socket.
package enum NetlinkMessages {
    /// What the messages of one datagram tell.
    package static func changes(in datagram: UnsafeRawBufferPointer) -> NetworkChanges {
        var changes: NetworkChanges = []
        var offset = 0
        while offset < datagram.count {
            guard datagram.count - offset >= headerBytes else { return changes.union(.unknown) }
            let length = Int(datagram.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
            let type = datagram.loadUnaligned(fromByteOffset: offset + 4, as: UInt16.self)
            guard length >= headerBytes, length <= datagram.count - offset else { return changes.union(.unknown) }
            changes.formUnion(change(type))
            // The last message need not be padded.
            offset += (length + 3) & ~3
        }
        return changes
    }

    private static func change(_ type: UInt16) -> NetworkChanges {
        switch type {
        case newLink, newAddress, newRoute: .appeared
        case deletedLink, deletedAddress, deletedRoute: .vanished
        case failure, overrun: .unknown
        default: []
        }
    }

    /// `struct nlmsghdr`: length, type, flags, sequence number, port.
    private static let headerBytes = 16

    // linux/netlink.h and linux/rtnetlink.h; not every C library brings these headers.
    private static let failure: UInt16 = 2
    private static let overrun: UInt16 = 4
    private static let newLink: UInt16 = 16
    private static let deletedLink: UInt16 = 17
    private static let newAddress: UInt16 = 20
    private static let deletedAddress: UInt16 = 21
    private static let newRoute: UInt16 = 24
    private static let deletedRoute: UInt16 = 25
}
