// A failed system call: which one, and the error number. Knows nothing of addresses or of what the call was for; the
// layer above adds that.

/// A system call that failed, with its error number.
package struct SystemError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The error number, such as `ECONNREFUSED`.
    package let errno: Int32
    /// The name of the call, such as "connect".
    package let call: String

    /// Makes an error from a call's name and its error number.
    package init(errno: Int32, call: String) {
        self.errno = errno
        self.call = call
    }

    /// The system's words for the error number, such as "Connection refused".
    package var message: String {
        var buffer = [CChar](repeating: 0, count: 256)
        urlloading_describe_error(errno, &buffer, buffer.count)
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Call and reason: "connect: Connection refused".
    package var description: String { "\(call): \(message)" }

    /// The error of a stream whose bytes do not keep to the protocol above it, in a call that is not the system's.
    package static func brokenProtocol(in call: String) -> SystemError { SystemError(errno: EPROTO, call: call) }

    /// True when the system knows no network on which the address is.
    package var isNoNetwork: Bool { errno == ENETUNREACH || errno == ENETDOWN }

    /// True when the system knows no way to the address: no route, or no network at all.
    package var isNoRoute: Bool { isNoNetwork || errno == EHOSTUNREACH }

    /// True when this machine, or the address that it speaks from, has nothing of an address' family, as where IPv6 is
    /// switched off. Beside another address that says nothing about the network. Alone it may be want of a local port,
    /// too; EADDRNOTAVAIL of IPv4 is nothing else.
    package func isWrongFamily(_ family: SocketAddress.Family) -> Bool {
        errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL && call == "connect" && family == .ipv6
    }

    /// True where there is no file of that name.
    package var isMissing: Bool { errno == ENOENT }

    /// True where the process or the machine has as many descriptors open as it may.
    package var isOutOfDescriptors: Bool { errno == EMFILE || errno == ENFILE }

    /// True for a limit of the process or the machine (descriptors, memory), not of the connection.
    package var isShortage: Bool { Platform.isShortage(errno) }
}
