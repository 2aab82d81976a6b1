// Reports of many requests and of two, without any.

import Foundation
import Testing
import URLLoadingFetch

@Suite("fetch: reports of requests")
struct ExperimentReportTests {
    private func sample(_ total: Double, status: Int? = 200, failure: String? = nil) -> RepeatReport.Sample {
        RepeatReport.Sample(
            status: status, firstByte: failure == nil ? total / 2 : nil, total: total, hasConnected: total == 0.001,
            failure: failure)
    }

    @Test("Percentiles are times that were seen, by the nearest rank")
    func percentiles() {
        let times = (1...100).map(Double.init)
        #expect([0, 0.5, 0.9, 0.99, 1].map { RepeatReport.percentile(times, $0) } == [1, 50, 90, 99, 100])
        #expect(RepeatReport.percentile([7], 0.5) == 7 && RepeatReport.percentile([], 0.5) == nil)
        #expect(RepeatReport.percentile([1, 2], 0.99) == 2)
    }

    @Test("Counts, statuses, failures and times")
    func repetition() {
        let samples =
            (1...10).map { sample(Double($0) / 1000) } + [
                sample(9, status: nil, failure: "No."), sample(0.5, status: 404),
            ]
        let lines = RepeatReport(samples, duration: 2).lines
        #expect(lines[0] == "12 requests in 2.00 s, 6.0 a second, 1 connection, 1 failure")
        #expect(lines[1] == "status 200: 10, 404: 1" && lines[2] == "failure 1 time: No.")
        #expect(lines[3].split(separator: " ").joined(separator: " ") == "least median 90 % 99 % most")
        #expect(
            lines[5].split(separator: " ").joined(separator: " ") == "in all 1.0 ms 6.0 ms 10.0 ms 500.0 ms 500.0 ms")
        #expect(lines[3].count == lines[4].count && lines[4].count == lines[5].count)
        #expect(RepeatReport([sample(1, status: nil, failure: "No.")], duration: 0).lines.count == 2)
    }

    private func side(_ status: String, _ fields: [(String, String)], _ body: String?, length: Int64? = nil)
        -> Comparison.Side
    {
        Comparison.Side(
            url: "http://a/", status: status, fields: fields.map { HeaderField(name: $0.0, value: $0.1) },
            body: body.map { Data($0.utf8) }, length: length ?? Int64(body?.utf8.count ?? 0), firstByte: 0.001,
            total: 0.002)
    }

    @Test("What is the same is not shown, and what differs is")
    func comparison() {
        let one = side("HTTP/1.1 200 OK", [("A", "1"), ("Set-Cookie", "s=1"), ("B", "2")], "one\ntwo\nthree")
        #expect(Comparison(one, one).isSame)
        #expect(
            Comparison(one, one).lines == [
                "--- http://a/", "+++ http://a/", "  HTTP/1.1 200 OK", "  the bodies are the same, 13 B",
                "first byte 1.0 ms and 1.0 ms, in all 2.0 ms and 2.0 ms",
            ])
        let other = side("HTTP/1.1 404 No", [("a", "1"), ("C", "3")], "one\n2\nthree\nfour")
        let lines = Comparison(one, other).lines
        #expect(lines[2...3] == ["- HTTP/1.1 200 OK", "+ HTTP/1.1 404 No"])
        #expect(lines[4...6] == ["- b: 2", "+ c: 3", "- set-cookie: (not shown)"] && !Comparison(one, other).isSame)
        #expect(lines[7...10] == ["  the bodies differ, 13 B and 16 B", "- two", "+ 2", "+ four"])
    }

    @Test("JSON is compared as people read it, long and binary bodies by their bytes alone")
    func bodies() {
        let json = Comparison(side("s", [], "{\"a\":1,\"b\":2}"), side("s", [], "{\"a\":1,\"b\":3}")).lines
        #expect(
            json.contains("-   \"b\": 2") && json.contains("+   \"b\": 3") && !json.contains { $0.contains("\"a\"") })
        let binary = Comparison(side("s", [], "a\0"), side("s", [], "b\0")).lines
        #expect(binary.filter { $0.hasPrefix("-") } == ["--- http://a/"])
        #expect(Comparison(side("s", [], nil, length: 1), side("s", [], nil, length: 2)).isSame == false)
        #expect(
            Comparison(side("s", [], nil, length: 1 << 30), side("s", [], nil, length: 1 << 30)).lines.contains(
                "  the bodies are both 1.1 GB, too long to be compared"))
        let long = (0..<4000).map(String.init).joined(separator: "\n")
        #expect(Comparison(side("s", [], long), side("s", [], long + "\nx")).lines.contains("  from line 4001 on"))
        let many = (0..<1000).map { "a\($0)" }.joined(separator: "\n")
        #expect(Comparison(side("s", [], many), side("s", [], "b")).lines.contains("  and 801 lines more"))
    }
}
