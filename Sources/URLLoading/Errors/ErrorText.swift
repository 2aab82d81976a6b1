// Text for people: what may stand in it, and where it goes when no code catches it.

import Foundation
import URLLoadingSystem

/// Pieces of error texts.
enum ErrorText {
    /// The URL without password (B17.57), for texts; errors carry the URL itself as it was requested.
    static func withoutPassword(_ url: URL) -> String { withoutPasswords(url.absoluteString) }

    /// A text without the passwords of the URLs in it.
    static func withoutPasswords(_ text: String) -> String {
        var (shown, rest) = ("", text[...])
        while let start = nextAuthority(in: rest) {
            let authority = rest[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
            shown += rest[..<start]
            if let at = authority.lastIndex(of: "@") {
                shown += authority[..<at].prefix { $0 != ":" }
                shown += authority[at...]
            } else {
                shown += authority
            }
            rest = rest[authority.endIndex...]
        }
        return shown.isEmpty ? String(rest) : shown + rest
    }

    /// Where the authority of the next URL begins.
    private static func nextAuthority(in text: Substring) -> String.Index? {
        let bytes = text.utf8
        var place = bytes.startIndex
        while let colon = bytes[place...].firstIndex(of: UInt8(ascii: ":")) {
            place = bytes.index(after: colon)
            // Looked for by bytes, which cost less. What is found has to be characters of their own, with no accents.
            if bytes[place...].starts(with: "//".utf8), String.Index(colon, within: text) != nil,
                text[colon...].prefix(3).elementsEqual("://")
            {
                return bytes.index(place, offsetBy: 2)
            }
        }
        return nil
    }

    /// The URL for a description, without password; in the words of Foundation where there is none.
    static func shown(_ url: URL?) -> String { url.map(withoutPassword) ?? "(null)" }

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
}
