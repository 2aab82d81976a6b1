// Standard error: lines that stay, and below them lines that are drawn again and again where it is a terminal. One
// lock, so that lines of transfers at once do not mix.

import Foundation
import Synchronization

/// What people read beside the output.
final class Screen: Sendable {
    /// The process's one.
    static let standardError = Screen(descriptor: STDERR_FILENO)

    private let descriptor: Int32
    /// Whether the terminal says that it can do more than to print lines.
    let knowsColors: Bool
    /// Whether lines can be drawn again.
    let isTerminal: Bool
    /// How many lines of progress stand below the last one that stays.
    private let drawn = Mutex(0)

    init(descriptor: Int32) {
        self.descriptor = descriptor
        // A terminal that says it can do nothing is treated as if it were none.
        knowsColors = getenv("TERM").map { String(cString: $0) != "dumb" } ?? false
        isTerminal = isatty(descriptor) == 1 && knowsColors
    }

    /// The terminal's size now: asked for each time, so that a change of it needs no signal.
    var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return (80, 24) }
        return (Int(size.ws_col), max(2, Int(size.ws_row)))
    }

    /// Lines that stay, of text that is made visible here.
    func write(_ lines: [String]) {
        drawn.withLock { drawn in
            put(erasing(drawn) + lines.map { VisibleText.of($0) + "\n" }.joined())
            drawn = 0
        }
    }

    /// Text that stays, as it is, and that is visible already.
    func write(text: String) {
        drawn.withLock { drawn in
            put(erasing(drawn) + text)
            drawn = 0
        }
    }

    /// The lines of progress, in place of those drawn before; of text that is visible already.
    func draw(_ lines: [String]) {
        guard isTerminal else { return }
        drawn.withLock { drawn in
            put(erasing(drawn) + lines.map { $0 + "\n" }.joined())
            drawn = lines.count
        }
    }

    /// From the first column, wherever the cursor is: a terminal shows ^C where that was typed,
    /// and the cursor behind it.
    private func erasing(_ count: Int) -> String { count > 0 ? "\r\u{1B}[\(count)A\u{1B}[J" : "" }

    private func put(_ text: String) {
        // There is no place to say that standard error cannot be written.
        _ = FileDescriptor.write(Data(text.utf8), to: descriptor)
    }
}

/// Writing to descriptors, and reading from them. Another process that shares them may have made them non-blocking.
enum FileDescriptor {
    /// Reads some bytes, waiting where there are none yet; how many, 0 at the end, and −1 with `errno` where it cannot.
    static func read(_ descriptor: Int32, _ buffer: UnsafeMutablePointer<UInt8>, _ length: Int) -> Int {
        while true {
            let count = Foundation.read(descriptor, buffer, length)
            if count >= 0 { return count }
            if errno == EAGAIN {
                var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                _ = poll(&ready, 1, -1)
            } else if errno != EINTR {
                return count
            }
        }
    }

    /// Writes everything, waiting where it is slow; the error number where it cannot, 0 otherwise. Without patience,
    /// what can be written at once still is.
    static func write(_ data: Data, to descriptor: Int32, _ patience: Patience = Patience()) -> Int32 {
        let hasReader = hasReader(descriptor)
        let ownPipe = hasReader && data.count > atOnce ? openPipeAgain(descriptor) : nil
        defer { if let ownPipe { close(ownPipe) } }
        return data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                var next = rest
                if hasReader, ownPipe == nil {
                    let error = waitForRoom(descriptor, patience)
                    if error != 0 { return error }
                    // A pipe that has room takes so many bytes at once. More could wait for ever, out of reach.
                    next = rest.prefix(atOnce)
                }
                let start = UnsafeRawBufferPointer(rebasing: next).baseAddress
                let count = Foundation.write(ownPipe ?? descriptor, start, next.count)
                if count >= 0 {
                    rest = rest.dropFirst(count)
                } else if errno == EAGAIN {
                    let error = waitForRoom(descriptor, patience)
                    if error != 0 { return error }
                } else if errno != EINTR {
                    return errno
                }
            }
            return 0
        }
    }

    /// Whether another process takes what is written: that of a pipe, a socket or a terminal.
    private static func hasReader(_ descriptor: Int32) -> Bool {
        var facts = stat()
        return fstat(descriptor, &facts) == 0 && [S_IFIFO, S_IFSOCK].contains(facts.st_mode & S_IFMT)
            || isatty(descriptor) == 1
    }

    /// Opens a pipe once more, so that a write to it takes as much as there is room for and never waits. The flags of
    /// the descriptor that is there stay as they are, since other processes share them. Nil for what is no pipe, and
    /// where the pipe cannot be opened.
    private static func openPipeAgain(_ descriptor: Int32) -> Int32? {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFIFO else { return nil }
        // What may only be read stays so.
        let flags = fcntl(descriptor, F_GETFL)
        guard flags >= 0, flags & O_ACCMODE != O_RDONLY else { return nil }
        let own = open("/proc/self/fd/\(descriptor)", O_WRONLY | O_NONBLOCK | O_CLOEXEC)
        guard own >= 0 else { return nil }
        // What else there is, as that each write is kept apart (O_DIRECT), ours does not do.
        let known = fcntl(own, F_GETFL) | O_ACCMODE | O_NONBLOCK | O_APPEND
        guard flags & ~known == 0 else {
            close(own)
            return nil
        }
        return own
    }

    /// Picked by the system: a pipe that has room takes so many bytes (`PIPE_BUF`).
    private static let atOnce = 4096

    /// Waits until writing does not wait; the error number where the patience is over before.
    private static func waitForRoom(_ descriptor: Int32, _ patience: Patience) -> Int32 {
        var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        while true {
            let error = patience.error
            if poll(&ready, 1, error == 0 ? Patience.pace : 0) > 0 { return 0 }
            if error != 0 { return error }
        }
    }
}
