// Starts the `soak` program, which is built beside the tests, and judges the line it prints.

import Foundation
import TestSupport
import Testing

/// Loads that need a process of their own.
@Suite(.serialized) struct SoakTests {
    @Test("B1.64: 2 GiB stream to a delegate within 64 MiB; a delegate that sleeps stops the sender")
    func streaming() throws {
        let bytes: Int64 = Sanitizer.isActive ? 256 << 20 : 2 << 30
        let report = try SoakReport.run("stream", "\(bytes)")
        #expect(report["bytes"] == "\(bytes)")
        #expect(report["blocked"] == "true")
        let written = try #require(report["writtenWhileAsleep"].flatMap { Int64($0) })
        #expect(written < bytes / 4, "the sender went on while the delegate slept")
        let peak = try #require(report["peakKiB"].flatMap { Int($0) })
        if !Sanitizer.isActive { #expect(peak < 64 * 1024, "\(peak) KiB") }
    }

    @Test("B11.5, B5.28: a file and a stream of 2 GiB are uploaded within 64 MiB")
    func uploading() throws {
        let bytes: Int64 = Sanitizer.isActive ? 64 << 20 : 2 << 30
        let report = try SoakReport.run("upload", "\(bytes)")
        #expect(report["file"] == "\(bytes)")
        #expect(report["stream"] == "\(bytes)")
        let peak = try #require(report["peakKiB"].flatMap { Int($0) })
        if !Sanitizer.isActive { #expect(peak < 64 * 1024, "\(peak) KiB") }
    }

    @Test("B1.43, B17.9, B17.53: of many requests in flight, a third cancelled, each answers once and nothing is left")
    func cancelling() throws {
        let requests = Sanitizer.isActive ? 2_000 : 10_000
        let report = try SoakReport.run("cancel", "\(requests)")
        #expect(report["answers"] == "\(requests)")
        #expect(report["wrong"] == "0")
        #expect(report["twice"] == "0")
        #expect(report["descriptorsLeft"].flatMap { Int($0) } ?? 1 <= 0)
        #expect(report["threadsLeft"].flatMap { Int($0) } ?? 1 <= 0)
        let growth = try #require(report["growthKiB"].flatMap { Int($0) })
        if !Sanitizer.isActive { #expect(growth < 4 * 1024, "\(growth) KiB") }
    }
}

/// Whether the suite runs under a sanitizer, whose shadow memory and slowness are not the package's.
enum Sanitizer {
    static let isActive = ProcessInfo.processInfo.environment["URLLOADING_SANITIZER"] != nil
}

/// What the program printed.
struct SoakReport {
    private let values: [String: String]

    subscript(_ name: String) -> String? { values[name] }

    /// Runs the program to its end.
    static func run(_ arguments: String...) throws -> SoakReport {
        let child = try ChildRun("soak", arguments)
        let output = child.outputText
        try #require(child.exitCode == 0, "\(output) \(child.complaintsText)")
        let pairs = output.split(whereSeparator: \.isWhitespace).map { $0.split(separator: "=") }
        return SoakReport(
            values: Dictionary(
                pairs.compactMap { $0.count == 2 ? (String($0[0]), String($0[1])) : nil }, uniquingKeysWith: { $1 }))
    }
}
