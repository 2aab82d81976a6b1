// What a measured phase has cost this process, and the line of JSON that says so.

import Foundation

/// The clocks at the start of a measured phase.
struct Clocks {
    private let usage: rusage
    private let wall: Moment
    private let baseMemory: Int

    /// Starts them: what was done until now is not counted.
    init() {
        Clocks.giveBackMemory()
        baseMemory = Clocks.status("VmRSS")
        usage = Clocks.usageNow()
        wall = .now
    }

    /// Stops them and tells.
    func report(_ totals: Phase.Totals, client: String) -> String {
        let elapsed = Double(Moment.now.nanoseconds - wall.nanoseconds) / 1e9
        let now = Clocks.usageNow()
        let threads = Clocks.status("Threads")
        let peak = Clocks.status("VmHWM")
        Clocks.giveBackMemory()
        let resident = Clocks.status("VmRSS")
        let latencies = totals.latencies.sorted()
        func percentile(_ share: Double) -> String {
            guard let last = latencies.indices.last else { return "0" }
            return Console.decimal(Double(latencies[Int(share * Double(last))]) / 1_000, places: 2)
        }
        let members: [(String, String)] = [
            ("client", "\"\(client)\""),
            ("requests", "\(totals.requests)"),
            ("bytes", "\(totals.bytes)"),
            ("errors", "\(totals.errors)"),
            ("wall_s", Console.decimal(elapsed, places: 6)),
            ("user_s", Console.decimal(seconds(usage.ru_utime, now.ru_utime), places: 6)),
            ("sys_s", Console.decimal(seconds(usage.ru_stime, now.ru_stime), places: 6)),
            ("p50_us", percentile(0.5)),
            ("p99_us", percentile(0.99)),
            ("base_rss_kib", "\(baseMemory)"),
            ("rss_kib", "\(resident)"),
            ("max_rss_kib", "\(peak)"),
            ("threads", "\(threads)"),
        ]
        return "{" + members.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
    }

    private func seconds(_ from: timeval, _ to: timeval) -> Double {
        Double(to.tv_sec - from.tv_sec) + Double(to.tv_usec - from.tv_usec) / 1e6
    }

    private static func usageNow() -> rusage {
        var usage = rusage()
        // RUSAGE_SELF, which the two C libraries import as different types.
        getrusage(0, &usage)
        return usage
    }

    /// What the allocator keeps for later is not what the client needs. The function is looked up because it is glibc's
    /// alone, in a header that its module map leaves out.
    private static func giveBackMemory() {
        guard let function = dlsym(nil, "malloc_trim") else { return }
        typealias Trim = @convention(c) (Int) -> Int32
        _ = unsafeBitCast(function, to: Trim.self)(0)
    }

    /// A number of /proc/self/status, in KiB where it is a size. The peak comes from there and not from getrusage,
    /// whose value begins with the size of the process that started this one.
    private static func status(_ name: String) -> Int {
        guard let file = fopen("/proc/self/status", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            let bytes = line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
            guard bytes.starts(with: name.utf8) else { continue }
            let digits = bytes.drop { !isDigit($0) }.prefix(while: isDigit)
            return Int(String(decoding: digits, as: UTF8.self)) ?? 0
        }
        return 0
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte)
    }
}
