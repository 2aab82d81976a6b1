// Tests that are made smaller where every instruction is watched.

import Foundation

/// Whether the suite runs under a sanitizer, whose shadow memory and slowness are not the package's.
public enum Sanitizer {
    /// Scripts/sanitize says so.
    public static let isActive = ProcessInfo.processInfo.environment["URLLOADING_SANITIZER"] != nil
}
