// Reads a case file: its group, the lines that every case begins with, cases, and tables of cases with one form.
// Whatever it does not understand is refused, with the number of the line.
//
// Must not know: drivers and servers. docs/conformance-cases.md.

/// What is wrong with which line of which file.
struct CaseFileFault: Error, CustomStringConvertible {
    let file: String
    let line: Int
    let reason: String

    var description: String { "\(file):\(line): \(reason)" }
}

/// Reads the cases of a file.
struct CaseReader {
    private struct Line {
        let number: Int
        let text: Substring
    }

    private struct Draft {
        let heading: Line
        var lines: [Line] = []
    }

    private let file: String
    private var group: String?
    private var common: [Line] = []
    private var cases: [ConformanceCase] = []
    private var titles: Set<String> = []

    /// The cases of a text; `file` names it in faults.
    static func cases(of text: String, file: String) throws(CaseFileFault) -> [ConformanceCase] {
        var reader = CaseReader(file: file)
        try reader.read(text)
        return reader.cases
    }

    private init(file: String) {
        self.file = file
    }

    private mutating func read(_ text: String) throws(CaseFileFault) {
        var draft: Draft?
        var form: [Line]?
        for (index, text) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let line = Line(number: index + 1, text: text)
            guard !text.isEmpty, !text.hasPrefix("#") else { continue }
            let rest = text.drop { $0 != " " }.dropFirst()
            switch text.prefix(while: { $0 != " " }) {
            case "group":
                guard group == nil, cases.isEmpty, draft == nil else { throw fault(line, "a file has one group") }
                guard !rest.isEmpty, !rest.contains(" ") else { throw fault(line, "a group is one word") }
                group = String(rest)
            case "each":
                guard cases.isEmpty, draft == nil else { throw fault(line, "\"each\" comes before all cases") }
                common.append(Line(number: line.number, text: rest))
            case "*":
                if let draft { try add(draft) }
                draft = Draft(heading: Line(number: line.number, text: rest))
                form = nil
            case "form":
                if let draft { try add(draft) }
                draft = nil
                form = []
            case "-":
                guard let form else { throw fault(line, "a row stands in a table, behind \"form\" and its lines") }
                try add(row(Line(number: line.number, text: rest), of: form))
            default:
                if form != nil {
                    form?.append(line)
                } else if draft != nil {
                    draft?.lines.append(line)
                } else {
                    throw fault(line, "this line belongs to no case")
                }
            }
        }
        if let draft { try add(draft) }
    }

    /// A row's case: the form's lines, with the row's columns, which stand between tildes, in place of $1, $2 and so
    /// on. A line of which nothing is left is left out.
    private func row(_ row: Line, of form: [Line]) throws(CaseFileFault) -> Draft {
        var columns = [""]
        for piece in row.text.split(separator: " ", omittingEmptySubsequences: false) {
            if piece == "~" {
                columns.append("")
            } else {
                columns[columns.count - 1] += (columns[columns.count - 1].isEmpty ? "" : " ") + piece
            }
        }
        var draft = Draft(heading: Line(number: row.number, text: columns[0][...]))
        var used: Set<Int> = []
        for line in form {
            var text = ""
            var rest = line.text
            while let dollar = rest.firstIndex(of: "$") {
                text += rest[..<dollar]
                rest = rest[rest.index(after: dollar)...]
                guard let number = rest.first?.wholeNumberValue, number > 0 else {
                    text += "$"
                    continue
                }
                rest = rest.dropFirst()
                guard columns.indices.contains(number) else { throw fault(row, "the row has no column \(number)") }
                used.insert(number)
                text += columns[number]
            }
            draft.lines.append(Line(number: row.number, text: (text + rest)[...]))
        }
        draft.lines.removeAll { $0.text.allSatisfy { $0 == " " } }
        guard used.count == columns.count - 1 else { throw fault(row, "the form does not use every column of the row") }
        return draft
    }

    private mutating func add(_ draft: Draft) throws(CaseFileFault) {
        guard let group else { throw fault(draft.heading, "the file has not said its group") }
        let heading = draft.heading.text
        guard let colon = heading.firstRange(of: ": ") else {
            throw fault(draft.heading, "a heading is \"references: title\"")
        }
        let references = heading[..<colon.lowerBound].split(separator: ",").map { $0.drop { $0 == " " } }
        if let reference = references.first(where: { !Self.isReference($0) }) {
            throw fault(
                draft.heading,
                "\"\(reference)\" is neither an RFC's section (R9112 §6.3) nor a statement (B16.31, H4.7)")
        }
        let title = String(heading[colon.upperBound...])
        guard titles.insert(title).inserted else { throw fault(draft.heading, "the title \"\(title)\" comes twice") }
        let lines = common + draft.lines
        var steps: [Step] = []
        var answers = 0
        for line in lines {
            do throws(CaseFault) {
                let action = try StepReader.action(
                    of: line.text, answersBefore: answers, behind: steps.last?.action)
                if case .answer = action { answers += 1 }
                steps.append(Step(line: line.number, action: action))
            } catch {
                throw fault(line, error.reason)
            }
        }
        guard steps.contains(where: { $0.action.isExpectation }) else {
            throw fault(draft.heading, "the case expects nothing, so it cannot fail")
        }
        cases.append(
            ConformanceCase(
                group: group, title: title, references: references.map(String.init),
                place: "\(file):\(draft.heading.number)", steps: steps,
                hosts: Set(lines.flatMap { Self.hosts(in: $0.text) })))
    }

    private static func isReference(_ text: Substring) -> Bool {
        if text.wholeMatch(of: /[BH]\d+\.\d+/) != nil { return true }
        return text.wholeMatch(of: /R\d+( §[A-Z0-9][0-9.]*)?|6265bis|RUFH|SOCKS/) != nil
    }

    /// What looks like a host of the reserved domain "test".
    private static func hosts(in text: Substring) -> [String] {
        // Few lines have one, and the pattern tries every place of a line.
        guard text.contains(".test") else { return [] }
        return text.matches(of: /[A-Za-z0-9.-]*[A-Za-z0-9-]\.test\b/).map { $0.output.lowercased() }
    }

    private func fault(_ line: Line, _ reason: String) -> CaseFileFault {
        CaseFileFault(file: file, line: line.number, reason: reason)
    }
}

extension Action {
    /// Whether the line can make its case fail.
    fileprivate var isExpectation: Bool {
        switch self {
        case .webSocket(let line): line.isExpectation
        case .certificate, .declareServer, .declareProxy, .answer, .serverSteps, .http2Script, .http2Steps, .session,
            .closeSession, .request, .finish, .cancel, .command, .storeCookie, .open, .until:
            false
        case .result, .member, .sends, .received, .receivedNothing, .proof, .connections, .asked, .receivedHTTP2: true
        }
    }
}
