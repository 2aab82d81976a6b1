// Appends sessions' secrets to a file in the format that protocol analysers read. Made only when a configuration names
// a file; an attacker that can read that file can read the traffic.

/// An open key log.
final class KeyLog: Sendable {
    private let descriptor: Int32

    /// Opens a regular file, or makes one, readable for its owner only.
    init(path: String) throws(TLSError) {
        switch Platform.openForAppending(path) {
        case .success(let descriptor): self.descriptor = descriptor
        case .failure(let failure): throw .internalFailure("the key log \(path) cannot be opened: \(failure.text)")
        }
    }

    deinit {
        Platform.close(descriptor)
    }

    /// Appends one line.
    func append(_ line: UnsafePointer<CChar>) {
        Platform.append(Array((String(cString: line) + "\n").utf8), to: descriptor)
    }
}
