// One open file descriptor, owned by exactly one place and closed exactly once. Knows nothing of what it is open on.

/// An owned file descriptor; it is closed when its owner lets go of it.
package struct Descriptor: ~Copyable, Sendable {
    /// The number, or -1 after `close()`.
    package private(set) var raw: Int32

    /// Takes ownership of an open descriptor, whose number is from now on `raw`.
    ///
    /// B16.85: never that of a standard descriptor, which is free where a program has closed it. What the program
    /// prints would go to a server, or into a file of ours.
    package init(owning raw: Int32) {
        self.raw = Platform.aboveStandard(raw)
    }

    deinit {
        if raw >= 0 {
            Platform.closeDescriptor(raw)
        }
    }

    /// True until `close()`.
    package var isOpen: Bool { raw >= 0 }

    /// Closes now; nothing happens when it was closed before.
    package mutating func close() {
        guard raw >= 0 else { return }
        Platform.closeDescriptor(raw)
        raw = -1
    }

    /// Closes now and answers the error number with which that failed, or 0.
    package mutating func closeReporting() -> Int32 {
        guard raw >= 0 else { return 0 }
        defer { raw = -1 }
        return Platform.closeReporting(raw)
    }

    /// Gives the number away; the receiver has to close it.
    package consuming func release() -> Int32 {
        let number = raw
        raw = -1
        return number
    }
}
