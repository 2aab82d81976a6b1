// The public suffixes that are known to the process: the library's own or, where the system has a
// newer list, the system's.
//
// No load waits for the disk: the list is read on another thread, once, when rules are first wanted, and until it has
// been read the library's own rules are the answer.

import Foundation
import Synchronization
import URLLoadingPolicy
import URLLoadingSystem

/// The public suffixes of this machine.
package enum SystemSuffixes {
    private enum State: Sendable {
        case unread
        case reading
        case read(PublicSuffixes)
    }

    private static let state = Mutex(State.unread)

    /// The rules as they are known now.
    package static var current: PublicSuffixes {
        let (known, isFirst) = state.withLock { state -> (PublicSuffixes, Bool) in
            switch state {
            case .read(let suffixes): return (suffixes, false)
            case .reading: return (.builtIn, false)
            case .unread:
                state = .reading
                return (.builtIn, true)
            }
        }
        if isFirst {
            let isRead = BlockingPool.shared.run {
                let suffixes = newest(in: paths, than: PublicSuffixes.builtInDate) ?? .builtIn
                state.withLock { $0 = .read(suffixes) }
            }
            // Without a thread the next question tries again.
            if !isRead { state.withLock { $0 = .unread } }
        }
        return known
    }

    /// The first list that is found and is one, if it is of a later day. May wait for the disk.
    package static func newest(in paths: [String], than day: String) -> PublicSuffixes? {
        for path in paths {
            guard let list = FileManager.default.contents(atPath: path), list.count <= mostBytes else { continue }
            if self.day(of: list, at: path) <= day { return nil }
            if let suffixes = PublicSuffixes(list: list) { return suffixes }
        }
        return nil
    }

    /// The day that a list names or, since older ones name none, that of its file; as `2023-02-09`.
    private static func day(of list: Data, at path: String) -> String {
        let mark = "// VERSION: "
        let line = list.prefix(headBytes).split(separator: UInt8(ascii: "\n")).first { $0.starts(with: mark.utf8) }
        if let line { return String(decoding: line.dropFirst(mark.utf8.count).prefix(10), as: UTF8.self) }
        let date = (try? FileManager.default.attributesOfItem(atPath: path))?[.modificationDate] as? Date
        return date?.formatted(.iso8601.year().month().day()) ?? ""
    }

    /// Debian, Ubuntu, Fedora, Arch and Alpine; built by hand.
    private static let paths = [
        "/usr/share/publicsuffix/public_suffix_list.dat", "/usr/share/publicsuffix/effective_tld_names.dat",
        "/usr/local/share/publicsuffix/public_suffix_list.dat",
    ]

    /// The list has some 250 KB.
    private static let mostBytes = 8 << 20
    /// What a list says about itself stands in its first lines.
    private static let headBytes = 4096
}
