// The process at the other end of a UNIX-domain socket. It is held by a descriptor and not by its number, which the
// system may give to another process: a signal reaches that process or none. Must not know what it does.

/// Another process that is or was connected to this one.
package final class PeerProcess: Sendable {
    private let descriptor: Descriptor
    private let number: Int32

    /// The process that listens where this socket has been connected; nil where it is this one, is
    /// gone, or cannot be told.
    init?(of socket: Int32) {
        var number: Int32 = 0
        let opened = Platform.call { urlloading_open_peer_process(socket, &number) }
        guard !opened.failed else { return nil }
        let held = Descriptor(owning: opened.value)
        // Order: behind the opening. An older system finds a process by its number, which is that one's as long as the
        // connection stands.
        guard number != getpid(), Platform.isConnected(socket) else { return nil }
        self.number = number
        descriptor = held
    }

    /// The words that it was started with; none where it has ended.
    package var words: [String] {
        contents(of: "cmdline").split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Whether it was stopped by a signal, and has not gone on.
    package var isStopped: Bool {
        // Behind its name, which is in parentheses and may have any bytes: a space, and a letter.
        let bytes = contents(of: "stat")
        guard let name = bytes.lastIndex(of: UInt8(ascii: ")")) else { return false }
        return bytes[name...].dropFirst(2).first == UInt8(ascii: "T")
    }

    /// What the system says of it; nothing where it has ended.
    private func contents(of name: String) -> ArraySlice<UInt8> {
        let opened = Platform.openForReading("/proc/\(number)/\(name)")
        guard !opened.failed else { return [] }
        let file = Descriptor(owning: opened.value)
        var bytes = [UInt8](repeating: 0, count: 16 * 1024)
        let length = Platform.call { read(file.raw, &bytes, bytes.count) }
        // Order: behind the reading. Up to here the number was no other process's.
        guard !length.failed, !ends(within: .zero) else { return [] }
        return bytes.prefix(length.value)
    }

    /// Sends it a signal, if it is still there.
    package func send(signal: Int32) { _ = Platform.call { urlloading_signal_process(descriptor.raw, signal) } }

    /// Waits for its end; whether it came in time. For threads that may wait.
    package func ends(within patience: Duration) -> Bool {
        Platform.waitReadable(descriptor.raw, milliseconds: Int32(clamping: patience.wholeMilliseconds))
    }
}

extension SocketStream {
    /// The process that listens where this UNIX-domain socket has been connected.
    package var peerProcess: PeerProcess? { withDescriptor { PeerProcess(of: $0) } ?? nil }
}
