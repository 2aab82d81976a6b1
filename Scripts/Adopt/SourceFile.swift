// What a source of a package has to change. Files and manifests are not known here.

/// A Swift source, taken apart.
struct SourceFile {
    private let lines: [String]
    /// The lines without comments and the contents of strings.
    let code: [String]
    private let conditionals: [Conditional]?

    init(_ text: String) {
        lines = text.linesOfText
        let mask = CodeMask(Array(text.utf8))
        code = String(decoding: mask.bytes, as: UTF8.self).linesOfText
        conditionals = mask.isSound && code.count == lines.count ? Conditional.all(in: code) : nil
    }

    /// What is to be changed, and what is left.
    func findings(_ names: KnownNames) -> Findings {
        var findings = Findings(lines: lines)
        guard let conditionals else {
            if lines.contains(where: { $0.contains("FoundationNetworking") }) {
                findings.remarks.append(
                    Remark(line: nil, text: "a comment, a string or an #if has no end that was found"))
            }
            return findings
        }
        let imports = code.map(ImportLine.init)
        if let line = code.indices.first(where: { imports[$0] == nil && code[$0].contains("FoundationNetworking.") }) {
            findings.remarks.append(
                Remark(
                    line: line, text: "FoundationNetworking is named in the code; leave the name out, then ask again"))
            return findings
        }
        if let line = imports.firstIndex(where: { $0?.obstacle != nil }) {
            findings.remarks.append(
                Remark(line: line, text: "\(imports[line]?.obstacle ?? ""); the file stays as it is"))
            return findings
        }

        var changes: [Change] = []
        var isImportedOnLinux = false
        var line = 0
        while line < code.count {
            guard imports[line] != nil else {
                line += 1
                continue
            }
            findings.needsURLLoading = true
            let around = conditionals.filter { $0.lines.contains(line) }
            let clause = around.flatMap(\.clauses).filter { $0.body.contains(line) }.max { $0.line < $1.line }
            let isAdopted = around.contains { $0.mentions("canImport(URLLoading)") }
            if isAdopted || around.isEmpty || around.count == 1 && Self.onLinux.contains(clause?.condition ?? "") {
                isImportedOnLinux = true
            }
            let run = line..<(imports[line...].firstIndex { $0 == nil } ?? code.count)
            line = run.upperBound
            if isAdopted { continue }
            if let clause, clause.condition == "canImport(FoundationNetworking)", isImportsOnly(clause.body) {
                changes.append(branch(before: clause))
                line = clause.body.upperBound
            } else {
                changes.append(choice(run))
            }
        }

        // Outer ones first: what stands in one of these is theirs.
        var settled: [Range<Int>] = []
        for conditional in conditionals.sorted(by: { $0.lines.lowerBound < $1.lines.lowerBound }) {
            guard !settled.contains(where: { $0.contains(conditional.lines.lowerBound) }),
                !conditional.mentions("canImport(URLLoading)"), Self.words.contains(where: conditional.mentions),
                isAboutNetworking(conditional)
                    || conditional.clauses.flatMap(\.body).contains(where: { concernsLoading($0, names) })
            else { continue }
            settled.append(conditional.lines)
            if let change = widened(conditional, isImportedOnLinux, names) {
                changes.append(change)
            } else {
                findings.remarks.append(
                    Remark(line: conditional.lines.lowerBound, text: reason(conditional, isImportedOnLinux, names)))
            }
        }
        for change in changes.sorted(by: { $0.lines.lowerBound > $1.lines.lowerBound }) {
            findings.lines.replaceSubrange(change.lines, with: change.replacement)
        }
        return findings
    }

    /// Lines that take the place of others.
    private struct Change {
        let lines: Range<Int>
        let replacement: [String]
    }

    // MARK: Imports

    /// A branch for URLLoading before one that imports FoundationNetworking.
    private func branch(before clause: Conditional.Clause) -> Change {
        let directive = lines[clause.line]
        let word = code[clause.line].contains("#elseif") ? "#elseif" : "#if"
        let imports = clause.body.filter { !isBlank($0) }.map(renamed)
        let before = [directive.sibling("\(word) canImport(URLLoading)")] + imports
        let after = directive.sibling("#elseif canImport(FoundationNetworking)")
        return Change(
            lines: clause.line..<clause.line + 1, replacement: before + [word == "#if" ? after : directive])
    }

    /// Imports that URLLoading's take the place of where it is.
    private func choice(_ run: Range<Int>) -> Change {
        let first = lines[run.lowerBound]
        return Change(
            lines: run,
            replacement: [first.sibling("#if canImport(URLLoading)")] + run.map(renamed) + [first.sibling("#else")]
                + lines[run] + [first.sibling("#endif")])
    }

    /// A line with the name of the module changed where it is code.
    private func renamed(_ line: Int) -> String {
        guard let place = code[line].range(of: "FoundationNetworking") else { return lines[line] }
        let start = code[line].utf8.distance(from: code[line].startIndex, to: place.lowerBound)
        let bytes = Array(lines[line].utf8)
        let name = "FoundationNetworking".utf8.count
        return String(decoding: bytes[..<start] + Array("URLLoading".utf8) + bytes[(start + name)...], as: UTF8.self)
    }

    private func isBlank(_ line: Int) -> Bool { code[line].allSatisfy(\.isWhitespace) }

    private func isImport(_ line: Int) -> Bool { code[line].names.contains("import") }

    private func isImportsOnly(_ body: Range<Int>) -> Bool { body.allSatisfy { isBlank($0) || isImport($0) } }

    /// Whether more than imports depends on the module FoundationNetworking.
    private func isAboutNetworking(_ conditional: Conditional) -> Bool {
        conditional.clauses.contains { clause in
            clause.condition?.contains("canImport(FoundationNetworking)") == true && !isImportsOnly(clause.body)
        }
    }

    private func concernsLoading(_ line: Int, _ names: KnownNames) -> Bool {
        !isImport(line) && names.concerns(code[line])
    }

    // MARK: Conditions about code

    /// The condition with URLLoading in it, where it is known that what it lets in compiles.
    private func widened(_ conditional: Conditional, _ isImported: Bool, _ names: KnownNames) -> Change? {
        let line = conditional.lines.lowerBound
        let condition = "!canImport(FoundationNetworking)"
        guard obstacle(conditional, isImported, names) == nil,
            let place = code[line].range(of: condition), lines[line].hasPrefix(code[line][..<place.upperBound])
        else { return nil }
        let rest = lines[line].dropFirst(code[line][..<place.upperBound].count)
        return Change(
            lines: line..<line + 1,
            replacement: [code[line][..<place.upperBound] + " || canImport(URLLoading)" + rest])
    }

    /// What keeps a condition from being changed.
    private func obstacle(_ conditional: Conditional, _ isImported: Bool, _ names: KnownNames) -> String? {
        guard let first = conditional.clauses.first, first.condition == "!canImport(FoundationNetworking)",
            conditional.clauses.count == 1 || conditional.clauses.count == 2 && conditional.clauses[1].condition == nil
        else { return "" }
        let body = conditional.clauses.flatMap(\.body)
        if body.contains(where: isImport) { return "imports stand among it" }
        if body.contains(where: { code[$0].names.contains("#if") }) { return "another #if stands in it" }
        if !isImported { return "the file does not import FoundationNetworking on Linux" }
        if let other = conditional.clauses.dropFirst().first,
            other.body.contains(where: { code[$0].names.contains(where: KnownNames.declarations.contains) })
        {
            return "what its #else declares may be used elsewhere"
        }
        let unknown = names.unknown(in: first.body.map { code[$0] })
        if unknown.isEmpty { return nil }
        return "it is not known whether Linux has \(unknown.prefix(4).joined(separator: ", "))"
    }

    private func reason(_ conditional: Conditional, _ isImported: Bool, _ names: KnownNames) -> String {
        if let obstacle = obstacle(conditional, isImported, names), !obstacle.isEmpty {
            return "left out on Linux, but \(obstacle); where it is right there, add || canImport(URLLoading)"
        }
        if conditional.mentions("Security") {
            return "asks for Security, of which URLLoading has trust, certificates and keys, not the key chain; "
                + "where these are enough, add || canImport(URLLoading) and keep import Security in an #if of its own"
        }
        if conditional.mentions("FoundationNetworking") {
            return "made for FoundationNetworking, and compiled with URLLoading too; where it makes up for what that "
                + "lacks, leave it out by && !canImport(URLLoading)"
        }
        return "asks for the system, of which more than URLSession may depend; where it is about URLSession only, "
            + "ask for canImport(URLLoading) as well"
    }

    private static let onLinux: Set = [
        "canImport(FoundationNetworking)", "os(Linux)", "!canImport(Darwin)", "!canImport(ObjectiveC)",
    ]

    /// What a condition speaks of that keeps code from Linux, or for it.
    private static let words = [
        "canImport(FoundationNetworking)", "canImport(Security)", "canImport(Darwin)", "canImport(ObjectiveC)",
        "os(Linux)", "os(macOS)", "os(iOS)",
    ]
}
