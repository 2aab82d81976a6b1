// Where files of options are, and what stands in them.

import Foundation

/// Reads files of options.
enum OptionFiles {
    /// More than any honest file of options has.
    private static let largest = 1 << 20

    /// The text of a file, of standard input for `-`, or of the user's own file for nil; that one need not be there.
    static func read(_ path: String?) throws(UsageError) -> String? {
        let file = path ?? ownFile
        if path == nil, access(file, F_OK) != 0 { return nil }
        let data: Data
        do throws(InputFile.Unreadable) {
            data = try InputFile.contents(ofInputOr: file, most: largest + 1)
        } catch {
            throw UsageError("\(file) cannot be read: \(error.reason)", code: .cannotRead)
        }
        guard data.count <= largest, let text = String(data: data, encoding: .utf8) else {
            throw UsageError("\(file) is no text or is too long", code: .cannotRead)
        }
        return text
    }

    private static var ownFile: String {
        let environment = ProcessInfo.processInfo.environment
        let base = environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        return (base ?? (environment["HOME"] ?? NSHomeDirectory()) + "/.config") + "/fetch/config"
    }
}
