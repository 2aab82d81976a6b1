// Standard input as the body of a request. Opening `/dev/stdin` instead would begin a file anew, of which a part may
// have been read, and fails where standard input is a socket.

import Foundation

/// Reads standard input from where it stands to its end. One thread at a time, as all streams.
final class StandardInput: InputStream {
    private var status = Stream.Status.notOpen
    private var failure: InputFile.Unreadable?

    init() { super.init(data: Data()) }

    override func open() { status = .open }

    override func close() { status = .closed }

    override var streamStatus: Stream.Status { failure == nil ? status : .error }

    override var streamError: (any Error)? { failure }

    override var hasBytesAvailable: Bool { failure == nil && status == .open }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        guard status == .open || status == .atEnd, failure == nil else { return -1 }
        let count = FileDescriptor.read(STDIN_FILENO, buffer, max(maxLength, 0))
        if count < 0 { failure = InputFile.Unreadable(number: errno) }
        if count == 0, maxLength > 0 { status = .atEnd }
        return count
    }

    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length: UnsafeMutablePointer<Int>
    ) -> Bool { false }
}
