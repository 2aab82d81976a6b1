// The runner as a program: the project's cases pass, and cases that are wrong do not.

import Foundation
import Testing
import URLLoadingTestSupport

@Suite("Conformance runner", .serialized)
struct RunnerTests {
    @Test("Every case of the project passes, and the driver supports all that they ask for")
    func project() async throws {
        let folder = try CaseDirectory()
        // All of them take a sanitizer ten minutes, which the suite's other tests do without.
        let share = Sanitizer.isActive ? 5 : 1
        let run = try await conformance([
            "--every", "\(share)", "--json", folder.path("r.json"), "--junit", folder.path("r.xml"),
        ])
        #expect(run.exitCode == 0, "\(run.complaintsText)")
        let results = try folder.json("r.json")
        guard case .array(let cases)? = results["cases"] else {
            Issue.record("no cases in the report")
            return
        }
        #expect(cases.count >= 1000 / share)
        let others = cases.filter { $0["outcome"] != "passed" }
        #expect(others.isEmpty, "\(others.map { $0["title"] ?? .null })")
        let groups = Dictionary(grouping: cases.compactMap { Self.text($0["group"]) }) { $0 }.mapValues(\.count)
        #expect(groups.count >= 9)
        if share == 1 {
            let table = try Self.documentedCounts(below: "## The table")
            #expect(table == groups.merging(["all": cases.count]) { $1 }, "docs/conformance.md")
            #expect(try Self.documentedCounts(below: "## By chapter") == Self.chapterCounts(run.outputText))
        }
        #expect(try folder.text("r.xml").components(separatedBy: "<testcase ").count == cases.count + 1)
    }

    private static func text(_ value: JSONValue?) -> String? {
        guard case .string(let text)? = value else { return nil }
        return text
    }

    /// How many cases the runner's second table has for each chapter.
    private static func chapterCounts(_ output: String) -> [String: Int] {
        let rows = output.components(separatedBy: "\nchapter ").last?.components(separatedBy: "\n\n").first ?? ""
        var counts: [String: Int] = [:]
        for row in rows.split(separator: "\n").dropFirst() {
            let words = row.split(separator: " ")
            if words.count > 1 { counts[String(words[0])] = Int(words[1]) }
        }
        return counts
    }

    /// The groups or chapters in a table of docs/conformance.md, and how many cases each is said to have.
    private static func documentedCounts(below heading: String) throws -> [String: Int] {
        // Tests/Conformance/Tests/Runner/RunnerTests.swift, below the package.
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 0..<5 { folder.deleteLastPathComponent() }
        let page = try String(contentsOf: folder.appendingPathComponent("docs/conformance.md"), encoding: .utf8)
        let rows = page.components(separatedBy: heading + "\n").last?.components(separatedBy: "\n## ").first ?? ""
        var counts: [String: Int] = [:]
        for row in rows.split(separator: "\n") where row.hasPrefix("| ") {
            let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            if let name = cells.first, let count = cells.last.flatMap({ Int($0) }) { counts[name] = count }
        }
        return counts
    }

    @Test("A wrong expectation fails its case and no other, in the table, in both reports and in the exit status")
    func wrongExpectation() async throws {
        let folder = try CaseDirectory()
        try folder.write(
            "a.case",
            """
            group g
            * B1.1: right
            < 200
            > GET /
            = answer 1
            * B1.2: wrong & "quoted"
            < 200
            > GET /
            = answer 2
            """)
        let run = try await conformance([
            "--cases", folder.path, "--json", folder.path("r.json"), "--junit", folder.path("r.xml"), "--jobs", "2",
        ])
        #expect(run.exitCode == 1)
        #expect(run.complaintsText.contains("failed: g: wrong & \"quoted\" (a.case:6)"))
        #expect(run.complaintsText.contains("line 9: the body is \"answer 1\", not \"answer 2\""))
        #expect(run.outputText.contains(/all +2 +1 +1 +0 +0/))
        let results = try folder.json("r.json")
        guard case .array(let cases)? = results["cases"] else {
            Issue.record("no cases in the report")
            return
        }
        #expect(cases.map { $0["outcome"] } == ["passed", "failed"])
        let junit = try folder.text("r.xml")
        #expect(junit.contains("tests=\"2\" failures=\"1\" skipped=\"0\""))
        #expect(junit.contains("name=\"wrong &amp; &quot;quoted&quot;\""))
    }

    @Test(
        "Whatever a case can expect can be wrong",
        arguments: [
            "= 201", "= error cancelled", "= 200 | X: y", "= 200 | !Content-Length", "= 200 || other",
            "? body_length 9",
            "? redirects count 1", "? response absent", "^ POST /", "^ GET /other", "^ GET / | Host: x", "^ GET / || x",
            "^ nothing", "connections 2", "sends http://a.test/ a=1", "^ GET /\n^ GET /", "^ GET /\nproof a b",
            "? error.detail contains x", "> GET /unforeseen\n= 200", "do nonsense {}\n? x absent",
        ])
    func everyExpectation(line: String) async throws {
        let folder = try CaseDirectory()
        try folder.write("a.case", "group g\n* B1.1: t\n< 200\n> GET /\n\(line)\n= 200\n")
        let run = try await conformance(["--cases", folder.path])
        if line.hasPrefix("do nonsense") {
            #expect(run.exitCode == 0)
            #expect(run.outputText.contains(/all +1 +0 +0 +1 +0/), "not supported is not failed")
        } else {
            #expect(run.exitCode == 1)
            #expect(run.complaintsText.contains("failed: g: t (a.case:2)"))
        }
    }

    @Test(
        "Whatever a case can expect of a web socket can be wrong",
        arguments: [
            "ws opened chat", "ws refused badServerResponse", "ws got text y", "ws got binary x",
            "ws got closed 1000", "ws got error cancelled", "ws close 1000\nws closed 1001",
            "ws close 1000\nws closed 1000 x", "ws closed 1000", "ws got text x\nws close 1000", "^ GET /other",
        ])
    func everyWebSocketExpectation(line: String) async throws {
        let folder = try CaseDirectory()
        let server = "<ws\n+ text x ; expect text y ; expect close 1000\n"
        try folder.write("a.case", "group g\n* B1.1: t\n\(server)ws open /\n\(line)\nws opened\n")
        let run = try await conformance(["--cases", folder.path])
        #expect(run.exitCode == 1)
        #expect(run.complaintsText.contains("failed: g: t (a.case:2)"), "\(run.complaintsText)")
    }

    @Test("A script that is not played to its end, and a client that breaks a rule, fail the case")
    func unplayedScript() async throws {
        let folder = try CaseDirectory()
        for (steps, reason) in [
            ("expect text x", "expected message"), ("expect pong x", "expected pong"),
            ("expect close 1001", "expected close"),
            ("expect close 1000 ; expect text x", "before step 2 of 2"),
        ] {
            let client = "ws open /\nws opened\nws close 1000\n? closed.code 1000\n"
            try folder.write("a.case", "group g\n* B1.1: t\n<ws\n+ \(steps)\n\(client)")
            let run = try await conformance(["--cases", folder.path])
            #expect(run.exitCode == 1)
            #expect(run.complaintsText.contains(reason), "\(run.complaintsText)")
        }
    }

    @Test("A malformed file is told with its line, and nothing runs")
    func malformed() async throws {
        let folder = try CaseDirectory()
        try folder.write("a.case", "group g\n* B1.1: t\n= 200\n* B1.2: u\n?? 1\n")
        let run = try await conformance(["--cases", folder.path])
        #expect(run.exitCode == 2)
        #expect(run.complaintsText == "conformance: a.case:5: \"??\" begins no line\n")
        #expect(run.output.isEmpty)
    }

    @Test("A failure that was expected is none; a pass that was not is one; a name of no case is an error")
    func expectedFailures() async throws {
        let folder = try CaseDirectory()
        try folder.write("a.case", "group g\n* B1.1: bad\n< 200\n> GET /\n= 201\n* B1.2: good\n< 200\n> GET /\n= 200\n")
        for (list, status, text) in [
            ("# none of them\ng: bad\n", 0, /all +2 +1 +0 +0 +1/), ("g: bad\ng: good\n", 1, /all +2 +0 +1 +0 +1/),
        ] {
            try folder.write("list", list)
            let run = try await conformance(["--cases", folder.path, "--expected-failures", folder.path("list")])
            #expect(Int(run.exitCode) == status)
            #expect(run.outputText.contains(text))
        }
        try folder.write("list", "g: nobody\n")
        let run = try await conformance(["--cases", folder.path, "--expected-failures", folder.path("list")])
        #expect(run.exitCode == 2)
        #expect(run.complaintsText.contains("list:1: there is no case \"g: nobody\""))
    }

    @Test("Cases are listed and chosen by group, title and reference")
    func lists() async throws {
        let all = try await conformance(["--list"])
        let lines = all.outputText.split(separator: "\n")
        #expect(all.exitCode == 0 && lines.count >= 600)
        let found = Set(lines.map { $0.prefix { $0 != ":" } })
        let groups: [Substring] = [
            "2397", "6265", "6455", "7541", "7616", "8305", "9110", "9111", "9112", "9113", "http2", "proxies",
            "redirects",
            "timeouts", "trust",
        ]
        #expect(found.isSuperset(of: groups))
        let some = try await conformance(["--list", "--filter", "B16.31"])
        #expect(some.outputText.contains("9112: "))
        #expect(some.outputText.split(separator: "\n").allSatisfy { $0.contains("B16.31") })
        let every = try await conformance(["--list", "--every", "7"])
        #expect(
            every.outputText.split(separator: "\n")
                == stride(from: 0, to: lines.count, by: 7).map { lines[$0] })
        #expect(try await conformance(["--every", "0"]).exitCode == 2)
        #expect(try await conformance(["--filter", "no such case"]).exitCode == 2)
        #expect(try await conformance(["--nonsense"]).exitCode == 2)
    }

    @Test("Whatever servers reply, the driver answers every command and lives to the end of its input")
    func fuzzing() async throws {
        let run = try await conformance(["--fuzz-driver", "5", "--jobs", "1"])
        #expect(run.exitCode == 0, "\(run.outputText)\(run.complaintsText)")
        #expect(run.outputText.contains("every command was answered, and every driver lived"))
        let none = try await conformance(["--fuzz-driver", "1", "--driver", "/bin/false"])
        #expect(none.exitCode == 1)
        #expect(none.outputText.contains("no answer to 1: "))
    }

    @Test("A driver that is none fails every case and ends the run")
    func noDriver() async throws {
        let folder = try CaseDirectory()
        try folder.write("a.case", "group g\n* B1.1: t\n< 200\n> GET /\n= 200\n")
        for driver in ["/bin/false", "/nonexistent/driver"] {
            let run = try await conformance(["--cases", folder.path, "--driver", driver])
            #expect(run.exitCode == 1)
            #expect(run.complaintsText.contains("the driver"))
        }
    }
}
