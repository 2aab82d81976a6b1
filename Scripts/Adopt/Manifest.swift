// What a manifest has to change. It is understood as far as it is written as most are: one `Package(…)` with plain lists.

/// A Package.swift, taken apart.
struct Manifest {
    private let source: [UInt8]
    private let code: [UInt8]
    /// The arguments of `Package(…)`.
    private var arguments: [Argument] = []

    init?(_ text: String) {
        source = Array(text.utf8)
        let mask = CodeMask(source)
        code = mask.bytes
        let calls = code.indices.filter { code.has("Package(", at: $0) && ($0 == 0 || !Self.isName(code[$0 - 1])) }
        guard mask.isSound, calls.count == 1, let call = calls.first, let range = inside(call + 7) else { return nil }
        arguments = elements(range)
    }

    /// What the package and its targets need where these files, named from its folder, import URLLoading.
    func findings(_ address: Address, needing files: [String]) -> Findings {
        var findings = Findings(lines: String(decoding: source, as: UTF8.self).linesOfText)
        guard !files.isEmpty else { return findings }
        guard let version = toolsVersion, version >= (5, 3) else {
            findings.remarks.append(Remark(line: 0, text: "conditions of dependencies need tools version 5.3 or later"))
            return findings
        }
        guard let targets = arguments.first(where: { $0.label == "targets" }), let list = list(targets.value) else {
            findings.remarks.append(
                Remark(line: nil, text: "its targets are no plain list; add the dependency by hand"))
            return findings
        }
        var insertions: [Insertion] = []
        var served: Set<Int> = []
        let all = elements(list).compactMap(target)
        for file in files {
            guard let index = owner(of: file, among: all) else {
                findings.remarks.append(Remark(line: nil, text: "no target was found for \(file)"))
                continue
            }
            guard served.insert(index).inserted else { continue }
            let target = all[index]
            guard let insertion = dependency(address.product, in: target.arguments, behind: "name") else {
                findings.remarks.append(
                    Remark(line: line(target.start), text: "the dependencies of \(target.name) are no plain list"))
                continue
            }
            insertions += insertion
        }
        if let package = dependency(address.dependency, in: arguments, before: targets) {
            if !served.isEmpty { insertions += package }
        } else {
            findings.remarks.append(Remark(line: nil, text: "the package's dependencies are no plain list"))
            insertions = []
        }
        var bytes = source
        for insertion in insertions.sorted(by: { ($0.place, $0.order) > ($1.place, $1.order) }) {
            bytes.insert(contentsOf: insertion.text.utf8, at: insertion.place)
        }
        findings.lines = String(decoding: bytes, as: UTF8.self).linesOfText
        return findings
    }

    /// How a manifest asks for this library.
    struct Address {
        let dependency: String
        let product: String
    }

    // MARK: Targets

    private struct Target {
        let name: String
        /// Where its sources may be.
        let folders: [String]
        let isTest: Bool
        let arguments: [Argument]
        let start: Int
    }

    private func target(_ element: Argument) -> Target? {
        let kinds = [".target(", ".executableTarget(", ".testTarget("]
        guard let kind = kinds.first(where: { code.has($0, at: element.value.lowerBound) }),
            let range = inside(element.value.lowerBound + kind.utf8.count - 1)
        else { return nil }
        let arguments = elements(range)
        guard let name = arguments.first(where: { $0.label == "name" }).flatMap({ literal($0.value) }) else {
            return nil
        }
        var folders = ["Sources/\(name)/", "Source/\(name)/", "src/\(name)/", "srcs/\(name)/", "Tests/\(name)/"]
        if let path = arguments.first(where: { $0.label == "path" }) {
            guard var folder = literal(path.value) else { return nil }
            if folder.hasPrefix("./") { folder.removeFirst(2) }
            folders = [folder == "." || folder.isEmpty ? "" : folder.hasSuffix("/") ? folder : folder + "/"]
        }
        return Target(
            name: name, folders: folders, isTest: kind == ".testTarget(", arguments: arguments,
            start: element.value.lowerBound)
    }

    /// The target with the narrowest folder that a file is in, or the only one that a file in Sources can be of.
    private func owner(of file: String, among targets: [Target]) -> Int? {
        let candidates = targets.indices.flatMap { index in
            targets[index].folders.filter(file.hasPrefix).map { (index, $0.utf8.count) }
        }
        if let best = candidates.max(by: { $0.1 < $1.1 }) { return best.0 }
        let place = file.hasPrefix("Sources/") ? false : file.hasPrefix("Tests/") ? true : nil
        let alone = targets.indices.filter { targets[$0].isTest == place }
        return alone.count == 1 ? alone.first : nil
    }

    // MARK: Insertions

    private struct Insertion {
        let place: Int
        let order: Int
        let text: String
    }

    /// What adds an element to the argument `dependencies`. Nothing where it is there already, nil where that is no plain list.
    private func dependency(
        _ element: String, in arguments: [Argument], behind label: String? = nil, before next: Argument? = nil
    ) -> [Insertion]? {
        guard let dependencies = arguments.first(where: { $0.label == "dependencies" }) else {
            let text = "dependencies: [\(element)]"
            if let next {
                let gap = indentation(next.start).map { "\n" + $0 } ?? " "
                return [Insertion(place: next.start, order: 0, text: text + "," + gap)]
            }
            guard let first = arguments.first(where: { $0.label == label }) else { return nil }
            let gap = indentation(first.start).map { "\n" + $0 } ?? " "
            return [Insertion(place: first.value.upperBound, order: 0, text: "," + gap + text)]
        }
        guard let list = list(dependencies.value) else { return nil }
        let text = String(decoding: source[list], as: UTF8.self)
        if text.contains(element) || Self.marks.contains(where: text.contains) { return [] }
        guard let last = list.last(where: { !Self.isBlank(code[$0]) }) else {
            // A comment in an empty list stays in front.
            return [Insertion(place: list.upperBound, order: 0, text: element)]
        }
        let hasComma = code[last] == UInt8(ascii: ",")
        let end = source[last...].firstIndex(of: UInt8(ascii: "\n")) ?? source.count
        if end >= list.upperBound {
            return [Insertion(place: last + 1, order: 0, text: (hasComma ? " " : ", ") + element)]
        }
        let lineEnd = source[end - 1] == UInt8(ascii: "\r") ? end - 1 : end
        let gap = lineEnd < end ? "\r\n" : "\n"
        let comma = hasComma ? [] : [Insertion(place: last + 1, order: 0, text: ",")]
        let blanks = blanksBefore(last)
        return comma + [Insertion(place: lineEnd, order: 1, text: gap + blanks + element + ",")]
    }

    /// What a list has in it that asks for this library already.
    private static let marks = ["\"URLLoading\"", "/URLLoading\"", "/URLLoading.git\""]

    /// The blanks that a line begins with.
    private func blanksBefore(_ place: Int) -> String {
        let start = (source[..<place].lastIndex(of: UInt8(ascii: "\n")) ?? -1) + 1
        return String(decoding: source[start...].prefix { $0 == 32 || $0 == 9 }, as: UTF8.self)
    }

    /// The blanks before this place. Nil where it is not the first of its line.
    private func indentation(_ place: Int) -> String? {
        let blanks = blanksBefore(place)
        let start = (source[..<place].lastIndex(of: UInt8(ascii: "\n")) ?? -1) + 1
        return start + blanks.utf8.count == place ? blanks : nil
    }

    // MARK: Reading

    private struct Argument {
        let label: String?
        /// Where the label begins, or the value.
        let start: Int
        /// Without blanks around it.
        let value: Range<Int>
    }

    private var toolsVersion: (Int, Int)? {
        let first = String(decoding: source, as: UTF8.self).linesOfText.first ?? ""
        guard let place = first.range(of: "swift-tools-version:") else { return nil }
        let numbers = first[place.upperBound...].filter { !$0.isWhitespace }.split(separator: ".").prefix(2)
        guard let major = numbers.first.flatMap({ Int($0) }) else { return nil }
        return (major, numbers.dropFirst().first.flatMap { Int($0) } ?? 0)
    }

    /// What stands between a bracket and the one that closes it.
    private func inside(_ open: Int) -> Range<Int>? {
        var depth = 0
        for place in open..<code.count {
            if "([{".utf8.contains(code[place]) { depth += 1 }
            if ")]}".utf8.contains(code[place]) { depth -= 1 }
            if depth == 0 { return open + 1..<place }
        }
        return nil
    }

    /// What stands in a list that is written as one.
    private func list(_ value: Range<Int>) -> Range<Int>? {
        guard let first = value.first, code[first] == UInt8(ascii: "["), let range = inside(first),
            range.upperBound + 1 == value.upperBound
        else { return nil }
        return range
    }

    /// The text of a string that is written as one.
    private func literal(_ value: Range<Int>) -> String? {
        let bytes = source[value]
        let quote = UInt8(ascii: "\"")
        guard bytes.count >= 2, bytes.first == quote, bytes.last == quote else { return nil }
        let text = bytes.dropFirst().dropLast()
        guard !text.contains(quote), !text.contains(UInt8(ascii: "\\")) else { return nil }
        return String(decoding: text, as: UTF8.self)
    }

    /// The arguments of a call, or the elements of a list.
    private func elements(_ range: Range<Int>) -> [Argument] {
        var found: [Argument] = []
        var depth = 0
        var start = range.lowerBound
        for place in range.lowerBound...range.upperBound {
            let ends = place == range.upperBound || depth == 0 && code[place] == UInt8(ascii: ",")
            if ends {
                if let element = element(start..<place) { found.append(element) }
                start = place + 1
            } else if "([{".utf8.contains(code[place]) {
                depth += 1
            } else if ")]}".utf8.contains(code[place]) {
                depth -= 1
            }
        }
        return found
    }

    private func element(_ range: Range<Int>) -> Argument? {
        guard let first = range.first(where: { !Self.isBlank(code[$0]) }),
            let last = range.last(where: { !Self.isBlank(code[$0]) })
        else { return nil }
        let label = code[first...last].prefix(while: Self.isName)
        let colon = label.endIndex
        guard !label.isEmpty, colon < last, code[colon] == UInt8(ascii: ":"),
            let value = (colon + 1...last).first(where: { !Self.isBlank(code[$0]) })
        else { return Argument(label: nil, start: first, value: first..<last + 1) }
        return Argument(label: String(decoding: label, as: UTF8.self), start: first, value: value..<last + 1)
    }

    private func line(_ place: Int) -> Int { source[..<place].count { $0 == UInt8(ascii: "\n") } }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 || byte == 10 || byte == 13 }

    private static func isName(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "_") || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
            || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
    }
}
