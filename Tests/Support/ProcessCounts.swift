// What this process holds right now, read from /proc: for checks that nothing is left behind.

import URLLoadingSystem

/// Open descriptors, threads and memory of this process.
package struct ProcessCounts: Sendable, Equatable, CustomStringConvertible {
    /// Open file descriptors, the one used for counting left out.
    package let descriptors: Int
    /// Threads.
    package let threads: Int
    /// Resident memory in bytes.
    package let residentBytes: Int

    /// The counts of this moment.
    package static func now() -> ProcessCounts {
        ProcessCounts(
            descriptors: ProcessFiles.entries(of: "/proc/self/fd").count - 1,
            threads: ProcessFiles.entries(of: "/proc/self/task").count,
            residentBytes: residentPages() * Int(sysconf(Int32(_SC_PAGESIZE))))
    }

    /// Threads whose name begins with `prefix`.
    package static func threads(named prefix: String) -> Int { threadNumbers(named: prefix).count }

    /// The numbers of the threads whose name begins with `prefix`.
    package static func threadNumbers(named prefix: String) -> Set<String> {
        Set(
            ProcessFiles.entries(of: "/proc/self/task").filter {
                ProcessFiles.contents("/proc/self/task/\($0)/comm").hasPrefix(prefix)
            })
    }

    /// The size of the address space in bytes.
    package static func addressSpace() -> Int {
        let fields = ProcessFiles.contents("/proc/self/statm").split(separator: " ")
        return (fields.first.flatMap { Int($0) } ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// All three, for a failure's message.
    package var description: String {
        "\(descriptors) descriptors, \(threads) threads, \(residentBytes >> 10) KiB resident"
    }

    private static func residentPages() -> Int {
        let fields = ProcessFiles.contents("/proc/self/statm").split(separator: " ")
        return fields.count > 1 ? Int(fields[1]) ?? 0 : 0
    }
}
