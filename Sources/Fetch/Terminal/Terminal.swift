// The command's two outputs: what was asked for, and what is said about it.

import Foundation

/// Standard output and standard error.
enum Terminal {
    /// Whether the output goes to a person's screen.
    static let showsOutput = isatty(STDOUT_FILENO) == 1

    /// Writes to standard output; the error number where it cannot, 0 otherwise.
    static func write(_ data: Data, _ patience: Patience = Patience()) -> Int32 {
        FileDescriptor.write(data, to: STDOUT_FILENO, patience)
    }

    /// Writes to standard output, for a caller whose work ends where it cannot.
    static func put(_ data: Data, _ patience: Patience = Patience()) throws(FetchError) {
        let error = write(data, patience)
        if error != 0 { throw FetchError.output(error) }
    }

    /// What went wrong in a line, and what to do about it in a second one.
    static func complain(_ message: String, advice: String? = nil) { note(complaint(message, advice: advice)) }

    /// The lines of a complaint.
    static func complaint(_ message: String, advice: String?) -> [String] {
        ["fetch: " + message] + (advice.map { ["fetch: " + $0] } ?? [])
    }

    /// What is told goes into a file from here on, or with `-` to standard output.
    static func tell(into file: String) throws(FetchError) {
        if file == "-" {
            dup2(STDOUT_FILENO, STDERR_FILENO)
            return
        }
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else {
            throw FetchError(.cannotWrite, "\(file) cannot be written: \(FetchError.system(errno))")
        }
        dup2(descriptor, STDERR_FILENO)
        close(descriptor)
    }

    /// A line beside the output.
    static func note(_ line: String) { note([line]) }

    /// Lines beside the output that belong together. A password within a URL is shown in none of them.
    static func note(_ lines: [String]) {
        Screen.standardError.write(
            lines.map { URLSecrets.hidden($0.split(whereSeparator: \.isNewline).joined(separator: " ")) })
    }
}
