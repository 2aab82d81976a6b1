// Text for people: what may stand in it, and where it goes when no code catches it.

import Foundation
import URLLoadingSystem

/// Pieces of error texts.
enum ErrorText {
    /// The URL without password (B17.57), for texts; errors carry the URL itself as it was requested.
    static func withoutPassword(_ url: URL) -> String { withoutPasswords(url.absoluteString) }

    /// A text without the passwords of the URLs in it.
    static func withoutPasswords(_ text: String) -> String {
        // By bytes: an accent behind a colon makes one character of both, in which the colon would not be seen.
        var (shown, rest) = ([UInt8](), Array(text.utf8)[...])
        while let start = nextAuthority(in: rest) {
            let authority = rest[start...].prefix { !"/?#".utf8.contains($0) }
            shown += rest[..<start]
            if let at = authority.lastIndex(of: UInt8(ascii: "@")) {
                shown += authority[..<at].prefix { $0 != UInt8(ascii: ":") }
                shown += authority[at...]
            } else {
                shown += authority
            }
            rest = rest[authority.endIndex...]
        }
        return shown.isEmpty ? text : String(decoding: shown + rest, as: UTF8.self)
    }

    /// Where the authority of the next URL begins.
    private static func nextAuthority(in text: ArraySlice<UInt8>) -> Int? {
        var place = text.startIndex
        while let colon = text[place...].firstIndex(of: UInt8(ascii: ":")) {
            place = colon + 1
            if text[place...].starts(with: "//".utf8) { return place + 2 }
        }
        return nil
    }

    /// The URL for a description, without password; in the words of Foundation where there is none.
    static func shown(_ url: URL?) -> String { url.map(withoutPassword) ?? "(null)" }

    /// A sentence that names no host, with that of the URL in front of its full stop, so that a log tells loads apart.
    static func naming(_ text: String, hostOf url: URL?) -> String {
        guard let host = url?.host(), !host.isEmpty else { return text }
        let isStopped = text.hasSuffix(".")
        return "\(isStopped ? text.dropLast() : text[...]) (\(host))\(isStopped ? "." : "")"
    }

    /// How an object of Foundation names itself: by its class, or the name that the class has there, and its place in
    /// memory.
    static func name(of object: AnyObject, _ name: String? = nil) -> String {
        let place = String(UInt(bitPattern: ObjectIdentifier(object)), radix: 16)
        return "<\(name ?? "\(type(of: object))"): 0x\(place)>"
    }

    /// Tells on standard error that the library was used wrongly, where Apple's would stop the program.
    static func reportMisuse(_ message: String) {
        if let machine = Machine.simulated { return machine.note(message) }
        StandardError.write("URLLoading: \(message)\n")
    }

    /// Tells that a delegate has answered once more.
    static func reportSecondAnswer() {
        reportMisuse("a delegate called a completion handler twice; the second call is ignored")
    }
}
