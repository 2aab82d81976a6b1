// Completions of options for three shells, made of the table of options. What stands behind an option is completed by
// the shell: files, folders, or a list of words.

/// Writes completions.
enum Completions {
    // MARK: bash

    static var bash: String {
        let valued = OptionTable.all.filter { $0.argument != nil }
        func patterns(_ rules: [OptionRule]) -> String { rules.flatMap(\.spellings).joined(separator: "|") }
        let files = valued.filter { $0.argument?.kind == .file }
        let folders = valued.filter { $0.argument?.kind == .folder }
        let others = valued.filter { $0.argument?.kind == .text }
        let lists = valued.compactMap { rule -> String? in
            guard case .oneOf(let words)? = rule.argument?.kind else { return nil }
            return
                "        \(patterns([rule]))) COMPREPLY=($(compgen -W '\(words.joined(separator: " "))' -- \"$word\")); return ;;\n"
        }
        return """
            # Completion of fetch for bash, made by `fetch --generate bash`.
            _fetch() {
                local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
                COMPREPLY=()
                case $before in
            \(lists.joined())        \(patterns(files))) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$word")); return ;;
                    \(patterns(folders))) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$word")); return ;;
                    \(patterns(others))) return ;;
                esac
                case $word in
                    -*) COMPREPLY=($(compgen -W '\(OptionTable.all.flatMap(\.spellings).joined(separator: " "))' -- "$word")) ;;
                esac
            }
            complete -F _fetch fetch

            """
    }

    // MARK: zsh

    static var zsh: String {
        let lines = OptionTable.all.map { rule -> String in
            let help = plain(rule.summary).replacing("\\", with: "\\\\").replacing("[", with: "\\[").replacing(
                "]", with: "\\]"
            )
            .replacing(":", with: "\\:")
            let action =
                switch rule.argument?.kind {
                case nil: ""
                case .file: ":\(rule.argument?.name ?? ""):_files"
                case .folder: ":\(rule.argument?.name ?? ""):_files -/"
                case .oneOf(let words): ":\(rule.argument?.name ?? ""):(\(words.joined(separator: " ")))"
                case .text: ":\((rule.argument?.name ?? "").replacing(":", with: "\\:")): "
                }
            let spellings = rule.spellings
            // Behind "=" or in the next word: what zsh calls "--word=".
            let forms = spellings.map { $0.hasPrefix("--") && rule.argument != nil ? "\($0)=" : $0 }
            let many = spellings.count > 1 ? "'*'{\(forms.joined(separator: ","))}" : "'*'\(forms[0])"
            return "    \(many)\(quoted("[\(help)]\(action)"))"
        }
        return """
            #compdef fetch
            # Completion of fetch for zsh, made by `fetch --generate zsh`.
            _arguments -s -S \\
            \(lines.joined(separator: " \\\n")) \\
                '*:URL:_urls'

            """
    }

    // MARK: fish

    static var fish: String {
        let lines = OptionTable.all.map { rule -> String in
            let letter = rule.letter.map { " -s \(quoted(String($0)))" } ?? ""
            let action =
                switch rule.argument?.kind {
                case nil: ""
                case .file: " -r -F"
                case .folder: " -x -a '(__fish_complete_directories)'"
                case .oneOf(let words): " -x -a \(quoted(words.joined(separator: " ")))"
                case .text: rule.argument?.isOptional ?? false ? "" : " -x"
                }
            return "complete -c fetch\(letter) -l \(rule.word)\(action) -d \(quoted(plain(rule.summary)))\n"
        }
        return "# Completion of fetch for fish, made by `fetch --generate fish`.\ncomplete -c fetch -f\n"
            + lines.joined()
    }

    // MARK: Words

    private static func plain(_ markdown: String) -> String { markdown.replacing("`", with: "") }

    /// In single quotes, as all three shells read them; fish would take a backslash in front of a quote for its own.
    private static func quoted(_ text: String) -> String { "'" + text.replacing("'", with: "'\\''") + "'" }
}

extension OptionRule {
    /// `-X` and `--request`.
    fileprivate var spellings: [String] { (letter.map { ["-\($0)"] } ?? []) + ["--\(word)"] }
}
