// What --generate can make out of the table of options: each text is another way to say the same.

/// A form of the manual, or the completions of a shell.
package enum GeneratedText: String, Sendable, CaseIterable {
    case man
    case tables
    case curl
    case bash
    case zsh
    case fish

    /// The text.
    package var text: String {
        switch self {
        case .man: ManualPage.text
        case .tables: ManualTables.options
        case .curl: ManualTables.curl
        case .bash: Completions.bash
        case .zsh: Completions.zsh
        case .fish: Completions.fish
        }
    }
}
