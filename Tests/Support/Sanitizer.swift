// Tests that are made smaller where every instruction is watched.

import Foundation

/// Whether the suite runs under a sanitizer, whose shadow memory and slowness are not the package's.
public enum Sanitizer {
    /// Scripts/sanitize says so.
    public static let isActive = ProcessInfo.processInfo.environment["URLLOADING_SANITIZER"] != nil

    /// How often a test does what it does often: as often as it says, and a tenth as often under a sanitizer.
    public static func share(of times: Int) -> Int { isActive ? max(times / 10, 1) : times }
}
