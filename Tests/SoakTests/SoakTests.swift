// Starts the `soak` program, which is built beside the tests, and judges the line it prints.

import Foundation
import Testing
import URLLoadingTestSupport

/// Loads that need a process of their own.
@Suite(.serialized, .timeLimit(.minutes(15))) struct SoakTests {
    @Test(
        "B1.64, H5.4: 2 GiB stream to a delegate within 64 MiB; a delegate that sleeps stops the sender",
        arguments: Carrier.allCases)
    func streaming(_ carrier: Carrier) async throws {
        let bytes: Int64 = Sanitizer.isActive ? 256 << 20 : 2 << 30
        let report = try await SoakReport.run("soak", "stream", "\(bytes)", over: carrier)
        #expect(report["bytes"] == "\(bytes)")
        #expect(report["blocked"] == "true")
        let written = try #require(report["writtenWhileAsleep"].flatMap { Int64($0) })
        #expect(written < bytes / 4, "the sender went on while the delegate slept")
        let peak = try #require(report["peakKiB"].flatMap { Int($0) })
        if !Sanitizer.isActive { #expect(peak < 64 * 1024, "\(peak) KiB") }
    }

    @Test(
        "B11.5, B5.28: a file and a stream of 2 GiB are uploaded within 64 MiB, over HTTP/2 of 512 MiB",
        arguments: Carrier.allCases)
    func uploading(_ carrier: Carrier) async throws {
        let bytes: Int64 = Sanitizer.isActive ? 64 << 20 : carrier == .http1 ? 2 << 30 : 512 << 20
        let report = try await SoakReport.run("soak", "upload", "\(bytes)", over: carrier)
        #expect(report["file"] == "\(bytes)")
        #expect(report["stream"] == "\(bytes)")
        let peak = try #require(report["peakKiB"].flatMap { Int($0) })
        if !Sanitizer.isActive { #expect(peak < 64 * 1024, "\(peak) KiB") }
    }

    @Test(
        "Under a mixed load over both protocols, on bad networks, no answer is wrong, lost or unaccounted for, and nothing is left"
    )
    func mixed() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("soak-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        let workers = Sanitizer.isActive ? "6" : "16"
        let child = try await ChildRun.run(
            testProgram: "soak", ["mixed", "--seconds", "10", "--workers", workers, "--json", file.path])
        #expect(child.exitCode == 0, "\(child.outputText) \(child.complaintsText)")
        #expect(child.outputText.hasSuffix("\nclean\n"))
        let json = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]
        let faults = try #require(json?["faults"] as? [String: Int])
        #expect(faults.count == 8)
        // A sanitizer takes its time over everything.
        #expect(faults.values.reduce(0, +) > (Sanitizer.isActive ? 0 : 8))
        let protocols = try #require(json?["protocols"] as? [[String: Any]])
        #expect(protocols.map { $0["spoken"] as? String } == ["HTTP/1.1", "HTTP/2"])
        for report in protocols {
            let kinds = try #require(report["kinds"] as? [String: [String: Int]])
            #expect(kinds.values.reduce(0) { $0 + ($1["requests"] ?? 0) } > (Sanitizer.isActive ? 10 : 50))
        }
        let shared = try #require(protocols.last)
        let connections = try #require(shared["connections"] as? Int)
        #expect(connections > 0)
        #expect(try #require(shared["asked"] as? Int) > connections, "no connection was shared")
        let samples = try #require(json?["samples"] as? [[String: Any]])
        #expect(samples.count > 2)
    }

    @Test(
        "B1.43, B17.9, B17.53, H6.1: of many requests in flight, a third cancelled, each answers once and nothing is left",
        arguments: Carrier.allCases)
    func cancelling(_ carrier: Carrier) async throws {
        let requests = Sanitizer.isActive ? 2_000 : 10_000
        let report = try await SoakReport.run("soak", "cancel", "\(requests)", over: carrier)
        #expect(report["answers"] == "\(requests)")
        #expect(report["wrong"] == "0")
        #expect(report["twice"] == "0")
        #expect(report["descriptorsLeft"].flatMap { Int($0) } ?? 1 <= 0)
        #expect(report["threadsLeft"].flatMap { Int($0) } ?? 1 <= 0)
        let growth = try #require(report["growthKiB"].flatMap { Int($0) })
        if !Sanitizer.isActive { #expect(growth < 4 * 1024, "\(growth) KiB") }
    }

    @Test("B15.24, B15.35: many web sockets at once, a message on each, all closed with 1000, nothing left")
    func webSockets() async throws {
        let report = try await SoakReport.run("websocket", "many", "200", over: .http1)
        for name in ["opened", "closedWith1000", "completed", "goodbyes", "serverMessages", "serverGoodbyes"] {
            #expect(report[name] == "200", "\(name) is \(report[name] ?? "absent")")
        }
        #expect(report["failures"] == "0")
        #expect(report["descriptorsLeft"].flatMap { Int($0) } ?? 1 <= 0)
        #expect(report["descriptorsOpen"].flatMap { Int($0) } ?? 0 >= 200)
        #expect(report["threadsOpen"].flatMap { Int($0) } ?? 100 < 50, "threads do not grow with sockets")
    }
}

/// What a program's sessions and servers speak with each other, as the environment tells them.
enum Carrier: String, CaseIterable {
    case http1 = "off"
    case http2 = "prior-knowledge"
}

/// What the program printed.
struct SoakReport {
    private let values: [String: String]

    subscript(_ name: String) -> String? { values[name] }

    /// Runs the program to its end.
    static func run(_ program: String, _ arguments: String..., over carrier: Carrier) async throws -> SoakReport {
        let child = try await ChildRun.run(
            testProgram: program, arguments, changing: ["URLLOADING_HTTP2": carrier.rawValue])
        let output = child.outputText
        try #require(child.exitCode == 0, "\(output) \(child.complaintsText)")
        let pairs = output.split(whereSeparator: \.isWhitespace).map { $0.split(separator: "=") }
        return SoakReport(
            values: Dictionary(
                pairs.compactMap { $0.count == 2 ? (String($0[0]), String($0[1])) : nil }, uniquingKeysWith: { $1 }))
    }
}
