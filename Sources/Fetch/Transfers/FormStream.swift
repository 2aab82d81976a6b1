// Reads a form's body once, from its first byte to its last; files are read while they are sent. One thread at a time, as
// all streams.

import Foundation

/// A form as a stream.
final class FormStream: InputStream {
    /// Why a file of the form could not be read to its end.
    struct Failure: LocalizedError {
        let message: String
        var errorDescription: String? { message }
    }

    private var rest: ArraySlice<FormBody.Segment>
    /// How much of the first of the rest has been read.
    private var position: Int64 = 0
    /// The file that is being read.
    private var descriptor: Int32 = -1
    private var status = Stream.Status.notOpen
    private var failure: Failure?

    init(_ form: FormBody) {
        rest = form.segments[...]
        super.init(data: Data())
    }

    deinit { closeFile() }

    override func open() { status = .open }

    override func close() {
        closeFile()
        status = .closed
    }

    override var streamStatus: Stream.Status {
        failure != nil ? .error : status == .open && rest.isEmpty ? .atEnd : status
    }

    override var streamError: (any Error)? { failure }

    override var hasBytesAvailable: Bool { !rest.isEmpty }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        while let segment = rest.first {
            let left = segment.length - position
            if left == 0 {
                closeFile()
                rest.removeFirst()
                position = 0
                continue
            }
            let wanted = Int(min(left, Int64(maxLength)))
            let count: Int
            switch segment {
            case .bytes(let data):
                let start = data.startIndex + Int(position)
                data.copyBytes(to: buffer, from: start..<start + wanted)
                count = wanted
            case .file(let path, _):
                count = readFile(path, buffer, wanted)
            }
            position += Int64(max(0, count))
            return count
        }
        return 0
    }

    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length: UnsafeMutablePointer<Int>
    ) -> Bool { false }

    // MARK: Files

    private func readFile(_ path: String, _ buffer: UnsafeMutablePointer<UInt8>, _ wanted: Int) -> Int {
        if descriptor < 0 { descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC) }
        guard descriptor >= 0 else { return fail("\(path) cannot be read: \(FetchError.system(errno))") }
        while true {
            let count = Foundation.read(descriptor, buffer, wanted)
            if count > 0 { return count }
            if count == 0 { return fail("\(path) has become shorter while it was sent") }
            if errno != EINTR { return fail("\(path) cannot be read: \(FetchError.system(errno))") }
        }
    }

    private func fail(_ message: String) -> Int {
        failure = Failure(message: message)
        return -1
    }

    private func closeFile() {
        if descriptor >= 0 { Foundation.close(descriptor) }
        descriptor = -1
    }
}
