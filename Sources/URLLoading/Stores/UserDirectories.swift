// Where programs of a user keep what is theirs (XDG Base Directory Specification), and how a program's folder there is
// named.
//
// Must not know: what is kept.

import Foundation
import URLLoadingPolicy

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

    /// A name as one folder's, whatever it holds: it must not lead elsewhere, and another name has another folder.
    static func folder(_ name: String) -> String {
        // A file system takes 255 bytes, and a byte can become three. No escaped name has a plus sign in it.
        if name.utf8.count > 80 { return escaped(name.utf8.prefix(47)) + "+" + digits(of: name) }
        return name.isEmpty ? "%" : escaped(name.utf8[...])
    }

    /// Thirty-two digits in place of a name, whatever it holds; another name has others.
    static func digits(of name: String) -> String {
        Array(name.utf8).withUnsafeBytes { SipHash.wideDigest($0, key: SipHash.Words(0, 0)) }.hexadecimal
    }

    private static func escaped(_ bytes: Substring.UTF8View) -> String {
        var text = ""
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: ".") where !text.isEmpty: text += "."
            default: text += (byte < 16 ? "%0" : "%") + String(byte, radix: 16)
            }
        }
        return text
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
