// The list of public suffixes that the system has, read once, when a cookie first makes it necessary.

import Foundation
import LoadingPolicy

/// The public suffixes of this machine.
package enum SystemSuffixes {
    /// The first list that is found and is one, else the library's few rules.
    package static let current: PublicSuffixes = {
        for path in paths {
            if let list = FileManager.default.contents(atPath: path), list.count <= mostBytes,
                let suffixes = PublicSuffixes(list: list)
            {
                return suffixes
            }
        }
        return .builtIn
    }()

    /// Debian, Ubuntu, Fedora, Arch and Alpine; built by hand.
    private static let paths = [
        "/usr/share/publicsuffix/public_suffix_list.dat", "/usr/share/publicsuffix/effective_tld_names.dat",
        "/usr/local/share/publicsuffix/public_suffix_list.dat",
    ]

    /// The list has some 250 KB.
    private static let mostBytes = 8 << 20
}
