// What this process has allocated and not freed. Resident memory shows that badly: an allocator keeps what was freed,
// and more of it the more threads there have been.

import Foundation

/// What the C library's allocator has given out.
package enum HeapCounts {
    /// Bytes that are allocated at this moment; nil where the C library does not tell.
    package static func bytesInUse() -> Int? {
        typealias Report = @convention(c) (Int32, UnsafeMutablePointer<FILE>) -> Int32
        // Swift's module of the C library lacks <malloc.h>; a null handle looks through everything that is loaded.
        guard let symbol = dlsym(nil, "malloc_info") else { return nil }
        let write = unsafeBitCast(symbol, to: Report.self)
        var text: UnsafeMutablePointer<CChar>?
        var length = 0
        guard let file = open_memstream(&text, &length) else { return nil }
        let result = write(0, file)
        fclose(file)
        defer { free(text) }
        guard result == 0, let text else { return nil }
        return bytesInUse(by: String(cString: text))
    }

    /// From the sums of a report, which stand behind the numbers of each arena: what the allocator has, less what is
    /// free in it, and what it has mapped for large pieces.
    package static func bytesInUse(by report: String) -> Int? {
        let sums = report.range(of: "</heap>", options: .backwards).map { report[$0.upperBound...] } ?? report[...]
        func size(_ element: String) -> Int? {
            guard let start = sums.range(of: "<\(element)\""),
                let size = sums[start.upperBound...].range(of: "size=\"")
            else { return nil }
            return Int(sums[size.upperBound...].prefix { $0 != "\"" })
        }
        guard let system = size("system type=\"current"), let fast = size("total type=\"fast"),
            let rest = size("total type=\"rest"), let mapped = size("total type=\"mmap")
        else { return nil }
        return system - fast - rest + mapped
    }
}
