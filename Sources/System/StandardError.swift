// What the library says to people by itself. Nothing waits for it or depends on it.

/// The standard error output of the process.
package enum StandardError {
    /// Writes a text. Where that cannot be done (a full disk, a closed descriptor, a pipe without
    /// reader) nothing happens.
    package static func write(_ text: String) { Platform.complain(text) }
}
