// One line to an FTP server. RFC 959 §4.1. It may hold a password, and shows nothing of itself.

/// A command and its argument.
package struct FTPCommand: Sendable, Hashable, Concealed {
    /// The command's name.
    package let verb: String
    /// What follows it, without CR, LF and NUL.
    package let argument: [UInt8]?

    /// Makes a command; the argument's bytes are all sendable.
    package init(_ verb: String, _ argument: [UInt8]? = nil) {
        self.verb = verb
        self.argument = argument
    }

    /// Makes a command whose argument is text; its bytes are all sendable.
    package init(_ verb: String, _ argument: String) {
        self.init(verb, Array(argument.utf8))
    }

    /// As it is sent.
    package var line: [UInt8] {
        Array(verb.utf8) + (argument.map { [UInt8(ascii: " ")] + $0 } ?? []) + [UInt8(ascii: "\r"), UInt8(ascii: "\n")]
    }

    /// Whether a byte does not end the command it stands in (B14.23).
    package static func isSendable(_ byte: UInt8) -> Bool {
        byte != UInt8(ascii: "\r") && byte != UInt8(ascii: "\n") && byte != 0
    }
}
