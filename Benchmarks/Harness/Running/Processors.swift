// Which core a child process runs on: the server on one, clients on another, so that neither takes the other's time.

import Foundation

/// The cores of this machine, as far as this process may use them.
enum Processors {
    /// The core of the servers and that of the clients; nil where there is only one.
    static let pair: (server: Int, client: Int)? = {
        guard let allowed = affinity(), allowed.count >= 2 else { return nil }
        return (allowed[0], allowed[1])
    }()

    /// Does something on one core: child processes started meanwhile stay there.
    static func on<R>(_ core: Int?, _ body: () throws -> R) rethrows -> R {
        guard let core, let before = affinity() else { return try body() }
        bind(to: [core])
        defer { bind(to: before) }
        return try body()
    }

    // The functions are looked up because their headers hide them behind _GNU_SOURCE. A set of cores is an array of
    // bits in words of the machine.
    private typealias Affinity = @convention(c) (Int32, Int, UnsafeMutableRawPointer) -> Int32
    private static let words = 16

    private static func affinity() -> [Int]? {
        guard let function = dlsym(nil, "sched_getaffinity") else { return nil }
        var set = [UInt](repeating: 0, count: words)
        let result = set.withUnsafeMutableBytes { bytes -> Int32 in
            guard let start = bytes.baseAddress else { return -1 }
            return unsafeBitCast(function, to: Affinity.self)(0, bytes.count, start)
        }
        if result < 0 { return nil }
        return (0..<words * UInt.bitWidth).filter { set[$0 / UInt.bitWidth] & 1 << UInt($0 % UInt.bitWidth) != 0 }
    }

    private static func bind(to cores: [Int]) {
        guard let function = dlsym(nil, "sched_setaffinity") else { return }
        var set = [UInt](repeating: 0, count: words)
        for core in cores { set[core / UInt.bitWidth] |= 1 << UInt(core % UInt.bitWidth) }
        set.withUnsafeMutableBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            _ = unsafeBitCast(function, to: Affinity.self)(0, bytes.count, start)
        }
    }
}
