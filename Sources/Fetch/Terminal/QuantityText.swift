// Bytes, rates and times as people read them. Pure.

import Foundation

/// Words for quantities.
package enum QuantityText {
    /// "512 B", "1.5 kB", "12 MB": powers of a thousand, as disks and networks count.
    package static func bytes(_ count: Int64) -> String {
        guard count >= 1000 else { return "\(max(0, count)) B" }
        var value = Double(count)
        for unit in ["kB", "MB", "GB", "TB"] {
            value /= 1000
            // What rounding would make 1000 belongs to the next unit.
            if value < 9.95 { return String(format: "%.1f %@", value, unit) }
            if value < 999.5 { return String(format: "%.0f %@", value, unit) }
        }
        return String(format: "%.0f PB", value / 1000)
    }

    /// Bytes in a second.
    package static func rate(_ bytesPerSecond: Double) -> String {
        guard bytesPerSecond.isFinite, bytesPerSecond >= 0, bytesPerSecond < 9e18 else { return "-- B/s" }
        return bytes(Int64(bytesPerSecond)) + "/s"
    }

    /// Whole bytes in a second; 0 where no time has passed. A clock that was set while bytes came may say any time.
    package static func perSecond(_ bytes: Int64, in seconds: Double) -> Int64 {
        guard seconds > 0 else { return 0 }
        return Int64(exactly: (Double(bytes) / seconds).rounded(.towardZero)) ?? .max
    }

    /// "1 connection", "2 connections".
    static func count(_ count: Int, _ thing: String) -> String { "\(count) \(thing)\(count == 1 ? "" : "s")" }

    /// "7.6", "12", "1234": with a digit behind the point where that says something.
    static func number(_ value: Double) -> String { String(format: value < 10 ? "%.1f" : "%.0f", value) }

    /// "0:07", "12:34", "1:02:03", and dashes for what is not known.
    package static func time(_ seconds: Double?) -> String {
        guard let seconds, seconds.isFinite, seconds >= 0, seconds < 360_000 else { return "--:--" }
        let whole = Int(seconds.rounded(.up))
        let (hours, minutes) = (whole / 3600, whole / 60 % 60)
        return hours > 0
            ? String(format: "%d:%02d:%02d", hours, minutes, whole % 60)
            : String(format: "%d:%02d", minutes, whole % 60)
    }

    /// "12.3 ms", "1.23 s".
    package static func duration(_ seconds: Double) -> String {
        seconds < 1 ? String(format: "%.1f ms", seconds * 1000) : String(format: "%.2f s", seconds)
    }
}

extension Duration {
    /// In seconds.
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}
