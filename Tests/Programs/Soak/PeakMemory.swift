// The most memory this process has had, as the kernel's status file tells it.
//
// Not getrusage: its figure survives exec and would be the parent's.

import Foundation

/// The high-water mark of resident memory.
enum PeakMemory {
    /// In KiB; zero where the file cannot be read.
    static var residentKiB: Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Int($0) } ?? 0
    }
}
