// What an operand comes to: a URL, and where its body goes.

import Foundation

/// A URL, and where its body goes.
package struct Target: Sendable, Equatable {
    /// The URL.
    package var url: URL
    /// Nil for standard output that was not named.
    package var output: OutputChoice?
    /// Whether https was only a guess, so that http may be meant.
    package var mayBePlain = false

    /// Whether the body goes into a file.
    var isIntoFile: Bool { output != nil && output != .file("-") }

    /// A target as it is.
    package init(_ url: URL, output: OutputChoice? = nil, mayBePlain: Bool = false) {
        self.url = url
        self.output = output
        self.mayBePlain = mayBePlain
    }
}

/// Where a body goes.
package enum OutputChoice: Sendable, Equatable {
    /// A file, or standard output for `-`.
    case file(String)
    /// A file that is named as the last part of the URL's path, or as the server says.
    case remoteName
}
