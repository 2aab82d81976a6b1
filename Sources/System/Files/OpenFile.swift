// A regular file that is open for reading, of which any part may be asked for at any time, from any thread. Its length
// is the one it had when it was opened. Must not know which code reads it.

/// Why a part of a file could not be read.
package enum FileReadFailure: Error, Sendable, Equatable {
    /// The file has become shorter.
    case ended
    /// The system said so.
    case failed(SystemError)
}

/// An open file.
package final class OpenFile: Sendable {
    private let descriptor: Descriptor
    /// The length when it was opened.
    package let byteCount: Int64

    /// Opens a file; fails with EISDIR for a directory and EINVAL for what is no file at all.
    package static func open(path: String) -> Result<OpenFile, SystemError> {
        let opened = Platform.openForReading(path)
        if opened.failed { return .failure(SystemError(errno: opened.error, call: "open")) }
        let descriptor = Descriptor(owning: opened.value)
        let length = Platform.length(ofFile: descriptor.raw)
        if length.failed { return .failure(SystemError(errno: length.error, call: "fstat")) }
        Platform.willReadInOrder(descriptor.raw)
        return .success(OpenFile(descriptor, byteCount: length.value))
    }

    private init(_ descriptor: consuming Descriptor, byteCount: Int64) {
        self.descriptor = descriptor
        self.byteCount = byteCount
    }

    var raw: Int32 { descriptor.raw }

    /// The length that it has by now; nil where the system does not say.
    package var currentByteCount: Int64? {
        LoopWatch.note("fstat")
        let length = Platform.length(ofFile: raw)
        return length.failed ? nil : length.value
    }

    /// When the file was last written to, in nanoseconds since 1970; nil where the system does not say.
    package var modificationTime: Int64? {
        LoopWatch.note("fstat")
        var information = stat()
        guard fstat(raw, &information) == 0 else { return nil }
        let (seconds, isTooFar) = Int64(information.st_mtim.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        return isTooFar ? nil : seconds &+ Int64(information.st_mtim.tv_nsec)
    }

    /// Whether reading it gives as many bytes as the length says. Files that a system makes when they are read say
    /// none, as those of /proc, or a page, as those of /sys. Reads a byte where the length is 0.
    package var saysItsLength: Bool {
        if Platform.isMadeWhenRead(raw) { return false }
        guard byteCount == 0 else { return true }
        return withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { read(at: 0, into: $0) == .failure(.ended) }
    }

    /// Reads from `offset` on, at least one byte; may wait for the disk.
    package func read(
        at offset: Int64, into buffer: UnsafeMutableRawBufferPointer
    ) -> Result<Int, FileReadFailure> {
        let outcome = Platform.readFile(raw, at: offset, into: buffer)
        if outcome.failed { return .failure(.failed(SystemError(errno: outcome.error, call: "pread"))) }
        return outcome.value == 0 ? .failure(.ended) : .success(outcome.value)
    }

    /// Reads what is in memory already; `nil` when the disk would have to be waited for.
    package func readCached(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        let outcome = Platform.readCached(raw, at: offset, into: buffer)
        // An end or an error is told by the reading that waits.
        return outcome.value > 0 ? outcome.value : nil
    }
}
