// The results of a run for other programs: JSON, and the XML that JUnit began with.
//
// Must not know: how cases run.

import Foundation
import URLLoadingTestSupport

/// Makes reports.
enum ReportFiles {
    /// Every case with its outcome.
    static func json(_ results: [CaseResult]) -> Data {
        let cases = results.map { result -> JSONValue in
            var members = [
                JSONMember(name: "group", value: .string(result.conformanceCase.group)),
                JSONMember(name: "title", value: .string(result.conformanceCase.title)),
                JSONMember(
                    name: "references", value: .array(result.conformanceCase.references.map(JSONValue.string))),
                JSONMember(name: "place", value: .string(result.conformanceCase.place)),
                JSONMember(name: "outcome", value: .string(result.outcome.rawValue)),
                JSONMember(name: "ms", value: .integer(Int64(result.duration / .milliseconds(1)))),
            ]
            if let reason = result.reason { members.append(JSONMember(name: "reason", value: .string(reason))) }
            return .object(members)
        }
        var data = JSONWriter.line(["cases": .array(cases)])
        data.append(0x0A)
        return data
    }

    /// One test suite a group.
    static func junit(_ results: [CaseResult]) -> Data {
        var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
        var groups: [String] = []
        for result in results where !groups.contains(result.conformanceCase.group) {
            groups.append(result.conformanceCase.group)
        }
        for group in groups {
            let members = results.filter { $0.conformanceCase.group == group }
            let (bad, skipped) = (members.count { $0.outcome.isBad }, members.count { isSkipped($0) })
            text += "  <testsuite name=\"\(escaped(group))\" tests=\"\(members.count)\" failures=\"\(bad)\""
            text += " skipped=\"\(skipped)\">\n"
            for result in members { text += testCase(result) }
            text += "  </testsuite>\n"
        }
        return Data((text + "</testsuites>\n").utf8)
    }

    private static func testCase(_ result: CaseResult) -> String {
        let (title, group) = (escaped(result.conformanceCase.title), escaped(result.conformanceCase.group))
        let seconds = result.duration / .seconds(1)
        let start = "    <testcase classname=\"\(group)\" name=\"\(title)\" time=\"\(seconds)\""
        let reason = escaped(result.reason ?? result.outcome.rawValue)
        if result.outcome.isBad { return start + "><failure message=\"\(reason)\"/></testcase>\n" }
        if isSkipped(result) { return start + "><skipped message=\"\(reason)\"/></testcase>\n" }
        return start + "/>\n"
    }

    private static func isSkipped(_ result: CaseResult) -> Bool {
        result.outcome == .unsupported || result.outcome == .failedAsExpected
    }

    /// Text as an attribute's value; what XML cannot hold at all becomes a question mark.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case "\"": escaped += "&quot;"
            case "\u{0}"..<" ", "\u{FFFE}", "\u{FFFF}": escaped += "?"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
