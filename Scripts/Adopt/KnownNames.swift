// Which names mean the same with URLLoading as on Apple's platforms.

import Foundation

/// The names that code may use and still be sure to compile with URLLoading.
struct KnownNames {
    /// What URLLoading declares, types and functions.
    private(set) var loading: Set<String> = []
    private var known: Set<String> = []

    /// `surface` is the list of what this library declares, `Tests/api-surface.txt`.
    init(surface: String) {
        for line in surface.linesOfText where !line.hasPrefix("#") {
            let names = line.names.map(String.init)
            known.formUnion(names)
            if line.hasPrefix("== ") { loading.formUnion(names.filter { $0.contains("URL") || $0.hasPrefix("HTTP") }) }
            loading.formUnion(names.filter { $0.hasPrefix("Sec") || $0.hasPrefix("kSec") })
        }
        // Of Foundation, and on Linux too.
        loading.remove("URL")
        loading.remove("URLError")
        known.formUnion(Self.everywhere)
    }

    /// Takes the types of the package itself for known.
    mutating func learn(_ code: [String]) {
        for line in code {
            let names = line.names
            for (word, name) in zip(names, names.dropFirst()) where Self.declarations.contains(word) {
                known.insert(String(name))
            }
        }
    }

    /// The names of some code of which it is not known whether they are there on Linux.
    func unknown(in code: [String]) -> [String] {
        var found: Set<String> = []
        for name in code.flatMap(\.names) {
            let isForAppleOnly = Self.forAppleOnly.contains(String(name))
            let mayBe = name.first?.isUppercase == true || name.hasPrefix("kSec") || name.hasPrefix("errSec")
            if isForAppleOnly || mayBe && !known.contains(String(name)) { found.insert(String(name)) }
        }
        return found.sorted()
    }

    /// Whether a line uses what URLLoading declares.
    func concerns(_ code: String) -> Bool { code.names.contains { loading.contains(String($0)) } }

    /// The words that declare something that other code may use.
    static let declarations: Set<Substring> = [
        "class", "struct", "enum", "protocol", "actor", "typealias", "extension", "func", "init",
    ]

    /// Of the standard library and Foundation, on every system.
    private static let everywhere: Set = [
        "Any", "AnyObject", "Array", "Bool", "Character", "Codable", "Data", "Date", "Decodable", "Dictionary",
        "Double", "Encodable", "Equatable", "Error", "Float", "Hashable", "Int", "Int32", "Int64", "JSONDecoder",
        "JSONEncoder", "NSLock", "NSObject", "Never", "OperationQueue", "Optional", "Progress", "Result", "Self",
        "Sendable", "Set", "String", "Task", "TimeInterval", "UInt", "UInt8", "URL", "URLComponents", "URLError",
        "UUID", "Void",
    ]

    /// Without a capital letter, and not on Linux.
    private static let forAppleOnly: Set = [
        "autoreleasepool", "@objc", "@objcMembers", "#selector", "#keyPath", "os_log", "objc_setAssociatedObject",
        "objc_getAssociatedObject", "@NSApplicationMain", "@IBAction", "@IBOutlet",
    ]
}
