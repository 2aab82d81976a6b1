// Where programs of a user keep what is theirs (XDG Base Directory Specification), and how a program's folder there is
// named.
//
// Must not know: what is kept.

import Foundation

/// The directories of the user this process acts for.
enum UserDirectories {
    /// For what a program has to keep; nil where there is none.
    static var data: String? { directory("XDG_DATA_HOME", belowHome: ".local/share") }

    /// For what a program can make again; nil where there is none.
    static var caches: String? { directory("XDG_CACHE_HOME", belowHome: ".cache") }

    /// For what a program goes on with when it runs again; nil where there is none.
    static var state: String? { directory("XDG_STATE_HOME", belowHome: ".local/state") }

    /// The name of this process as a folder's.
    static var folderOfProcess: String { folder(ProcessInfo.processInfo.processName) }

    /// A name as one folder's, whatever it holds: it must not lead elsewhere.
    static func folder(_ name: String) -> String {
        var text = ""
        for byte in name.utf8.prefix(80) {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: ".") where !text.isEmpty: text += "."
            default: text += "%" + String(byte, radix: 16)
            }
        }
        return text.isEmpty ? "%" : text
    }

    private static func directory(_ name: String, belowHome fallback: String) -> String? {
        // The specification: a relative path is to be taken for none.
        if let path = variable(name), path.hasPrefix("/") { return path }
        let home = variable("HOME") ?? NSHomeDirectory()
        return home.hasPrefix("/") ? home + "/" + fallback : nil
    }

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}
