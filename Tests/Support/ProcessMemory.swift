// How much memory a process takes, and how much of that is its own: pages of libraries and programs belong to files,
// and all processes that use them share them.

/// The memory of a process, in KiB.
package struct ProcessMemory: Sendable {
    /// The highest that was resident, with the pages of files.
    package var peak: Int
    /// What is resident now and no page of a file.
    package var anonymous: Int

    /// Makes it of both.
    package init(peak: Int, anonymous: Int) {
        self.peak = peak
        self.anonymous = anonymous
    }

    /// What the system says of a process now; nothing of one that is gone.
    package init(of process: String = "self") {
        let lines = ProcessFiles.contents("/proc/\(process)/status").split(separator: "\n")
        func value(_ name: String) -> Int {
            let line = lines.first { $0.hasPrefix(name + ":") } ?? ""
            return line.split(whereSeparator: { $0 == " " || $0 == "\t" }).compactMap { Int($0) }.first ?? 0
        }
        self.init(peak: value("VmHWM"), anonymous: value("RssAnon"))
    }

    /// The higher of both.
    package mutating func join(_ other: ProcessMemory) {
        self = ProcessMemory(peak: max(peak, other.peak), anonymous: max(anonymous, other.anonymous))
    }
}
