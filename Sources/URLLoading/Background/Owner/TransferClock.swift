// The time by which transfers are owned, and what calls when some of it has passed. Tests have a clock of their own.
//
// Must not know: transfers.

import Dispatch
import Foundation
import URLLoadingPolicy

/// A clock.
struct TransferClock: Sendable {
    /// What time it is.
    let now: @Sendable () -> TransferInstant
    /// Calls a function on a queue when so many milliseconds have passed.
    let wake: @Sendable (Int64, DispatchQueue, @escaping @Sendable () -> Void) -> Void

    /// The machine's clocks.
    static let system = TransferClock(now: { .now }) { delay, queue, body in
        queue.asyncAfter(deadline: .now() + .milliseconds(Int(clamping: delay)), execute: body)
    }
}

extension TransferInstant {
    /// This moment.
    static var now: TransferInstant {
        TransferInstant(wall: milliseconds(CLOCK_REALTIME), uptime: milliseconds(CLOCK_BOOTTIME), boot: thisBoot)
    }

    private static func milliseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// The kernel's name for the time since it was started, as a number; 0 where it does not tell.
    private static let thisBoot: UInt64 = {
        guard let name = FileManager.default.contents(atPath: "/proc/sys/kernel/random/boot_id") else { return 0 }
        return name.withUnsafeBytes { SipHash.digest($0, key: SipHash.Words(0, 0)) } | 1
    }()
}
