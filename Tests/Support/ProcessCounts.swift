// What this process holds right now, read from /proc: for checks that nothing is left behind.

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

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
            descriptors: entries(of: "/proc/self/fd").count - 1, threads: entries(of: "/proc/self/task").count,
            residentBytes: residentPages() * Int(sysconf(Int32(_SC_PAGESIZE))))
    }

    /// Threads whose name begins with `prefix`.
    package static func threads(named prefix: String) -> Int {
        entries(of: "/proc/self/task").count { contents("/proc/self/task/\($0)/comm").hasPrefix(prefix) }
    }

    /// The size of the address space in bytes.
    package static func addressSpace() -> Int {
        let fields = contents("/proc/self/statm").split(separator: " ")
        return (fields.first.flatMap { Int($0) } ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// All three, for a failure's message.
    package var description: String {
        "\(descriptors) descriptors, \(threads) threads, \(residentBytes >> 10) KiB resident"
    }

    private static func residentPages() -> Int {
        let fields = contents("/proc/self/statm").split(separator: " ")
        return fields.count > 1 ? Int(fields[1]) ?? 0 : 0
    }

    private static func entries(of path: String) -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") {
                names.append(name)
            }
        }
        return names
    }

    static func contents(_ path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(descriptor, &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
}
