// The version of this library. It stands here and nowhere else: User-Agent, `fetch --version` and
// docs/releasing.md read it.

extension URLSession {
    /// Ours: the version of this library, as three numbers: `0.2.0`.
    public static var libraryVersion: String { "0.2.0" }
}
