// The command's two outputs: what was asked for, and what is said about it.

import Foundation

/// Standard output and standard error.
enum Terminal {
    /// Whether the output goes to a person's screen.
    static let showsOutput = isatty(STDOUT_FILENO) == 1

    /// Writes to standard output; the error number where it cannot, 0 otherwise.
    static func write(_ data: Data) -> Int32 { FileDescriptor.write(data, to: STDOUT_FILENO) }

    /// One line about what went wrong.
    static func complain(_ message: String) { note("fetch: " + message) }

    /// A line beside the output.
    static func note(_ line: String) { note([line]) }

    /// Lines beside the output that belong together. A password within a URL is shown in none of them.
    static func note(_ lines: [String]) {
        Screen.standardError.write(
            lines.map { URLSecrets.hidden($0.split(whereSeparator: \.isNewline).joined(separator: " ")) })
    }
}
