// How standard output looks: as it comes, or as people like it.

import Foundation

/// What --pretty asks for.
package enum Prettiness: String, Sendable, CaseIterable {
    case all
    case colors
    case format
    case none
}

/// What is done to what is written to standard output.
struct OutputStyle: Sendable {
    /// Whether JSON is indented.
    let formats: Bool
    let paint: Paint
}

extension Options {
    /// As the options say; without a word of theirs everything on a terminal and nothing elsewhere.
    var outputStyle: OutputStyle {
        let isForPeople = Terminal.showsOutput && Screen.standardError.knowsColors
        let pretty = prettiness ?? (isForPeople ? .all : .none)
        let isMuted =
            !hasColors || prettiness == nil && !(ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty
        return OutputStyle(
            formats: pretty == .all || pretty == .format,
            paint: Paint(isOn: (pretty == .all || pretty == .colors) && !isMuted))
    }
}
