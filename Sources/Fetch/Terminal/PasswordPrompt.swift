// Asks a person for a password: on the terminal itself, whatever standard input is, and without showing what is typed.

import Foundation

/// Asks on the controlling terminal.
enum PasswordPrompt {
    /// What was typed; throws where there is no terminal, or the user has broken off.
    static func ask(_ question: String) throws(FetchError) -> String {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard terminal >= 0 else {
            throw FetchError(.usage, "there is no terminal to ask for a password: give it behind the user and a colon")
        }
        defer { close(terminal) }
        var settings = termios()
        guard tcgetattr(terminal, &settings) == 0 else {
            throw FetchError(.usage, "the terminal cannot be asked for a password")
        }
        let before = settings
        // Signals come as bytes meanwhile: a process that ends here would leave the terminal without its echo.
        settings.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        guard tcsetattr(terminal, TCSAFLUSH, &settings) == 0 else {
            throw FetchError(.usage, "the terminal cannot be asked for a password")
        }
        defer {
            var before = before
            tcsetattr(terminal, TCSAFLUSH, &before)
            _ = FileDescriptor.write(Data("\n".utf8), to: terminal)
        }
        _ = FileDescriptor.write(Data(VisibleText.of(question).utf8), to: terminal)
        var line = PasswordLine()
        while true {
            var byte: UInt8 = 0
            let count = read(terminal, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { throw FetchError(.interrupted, "no password was typed") }
            switch line.take(byte) {
            case .more: continue
            case .done(let password): return password
            case .brokenOff: throw FetchError(.interrupted, "no password was typed")
            }
        }
    }
}

/// A line that is typed. A value: bytes in, the password out.
package struct PasswordLine {
    /// What a byte led to.
    package enum Step: Equatable {
        case more
        case done(String)
        case brokenOff
    }

    private var bytes: [UInt8] = []

    /// Nothing typed yet.
    package init() {}

    /// The next byte that was typed.
    package mutating func take(_ byte: UInt8) -> Step {
        switch byte {
        case 0x0A, 0x0D: return .done(String(decoding: bytes, as: UTF8.self))
        // Control-C, and control-\.
        case 0x03, 0x1C: return .brokenOff
        // Control-D ends what is there, and breaks off where nothing is.
        case 0x04: return bytes.isEmpty ? .brokenOff : .done(String(decoding: bytes, as: UTF8.self))
        case 0x7F, 0x08: removeCharacter()
        // Control-U.
        case 0x15: bytes = []
        case 0..<0x20: break
        default: if bytes.count < 4096 { bytes.append(byte) }
        }
        return .more
    }

    private mutating func removeCharacter() {
        while let last = bytes.popLast(), last & 0xC0 == 0x80 {}
    }
}
