// Reads a form's body once, from its first byte to its last; files are read while they are sent, and compared with the
// lengths that were announced. One thread at a time, as all streams.

import Foundation
import URLLoadingSystem

/// A form as a stream, of which there can be another one at any time.
final class MultipartFormStream: MadeBodyStream {
    typealias FileError = URLRequest.MultipartForm.FileError

    private let form: URLRequest.MultipartForm
    private var rest: ArraySlice<URLRequest.MultipartForm.Segment>
    /// How much of the first of the rest has been read.
    private var position: Int64 = 0
    /// The file that is being read.
    private var file: OpenFile?
    private var status = Stream.Status.notOpen
    private var failure: FileError?

    init(_ form: URLRequest.MultipartForm) {
        self.form = form
        rest = form.segments[...]
        super.init(data: Data())
    }

    override var byteCount: Int64? { form.contentLength }

    override var isRenewable: Bool { true }

    override func renewed() -> MadeBodyStream? { MultipartFormStream(form) }

    override func open() { status = .open }

    override func close() {
        file = nil
        status = .closed
    }

    override var streamStatus: Stream.Status {
        failure != nil ? .error : status == .open && rest.isEmpty ? .atEnd : status
    }

    override var streamError: (any Error)? { failure }

    override var hasBytesAvailable: Bool { failure == nil && !rest.isEmpty }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        guard status == .open, failure == nil, maxLength > 0 else { return status == .open && failure == nil ? 0 : -1 }
        let buffer = UnsafeMutableRawBufferPointer(start: buffer, count: maxLength)
        do throws(FileError) {
            while let segment = rest.first {
                let count = try read(segment, into: buffer)
                position += Int64(count)
                if count > 0 { return count }
                rest.removeFirst()
                (position, file) = (0, nil)
            }
        } catch {
            failure = error
            return -1
        }
        return 0
    }

    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length: UnsafeMutablePointer<Int>
    ) -> Bool { false }

    // MARK: Segments

    /// The next bytes; 0 at the end.
    private func read(
        _ segment: URLRequest.MultipartForm.Segment, into buffer: UnsafeMutableRawBufferPointer
    ) throws(FileError) -> Int {
        switch segment {
        case .bytes(let data):
            let left = data.dropFirst(Int(position)).prefix(buffer.count)
            left.copyBytes(to: buffer)
            return left.count
        case .file(let url, let length): return try readFile(url, length, into: buffer)
        }
    }

    private func readFile(
        _ url: URL, _ length: Int64, into buffer: UnsafeMutableRawBufferPointer
    ) throws(FileError) -> Int {
        let file = try opened(url, length)
        let left = length - position
        // Behind the end a byte is asked for, which must not be there.
        let wanted = left == 0 ? 1 : Int(min(left, Int64(buffer.count)))
        switch file.read(at: position, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])) {
        case .success(let count):
            if left == 0 { throw FileError(file: url, problem: .becameLonger) }
            return count
        case .failure(.ended):
            if left > 0 { throw FileError(file: url, problem: .becameShorter) }
            return 0
        case .failure(.failed(let error)): throw FileError(url, error)
        }
    }

    private func opened(_ url: URL, _ length: Int64) throws(FileError) -> OpenFile {
        if let file { return file }
        let file = try url.openForForm()
        if file.byteCount != length {
            throw FileError(file: url, problem: file.byteCount < length ? .becameShorter : .becameLonger)
        }
        self.file = file
        return file
    }
}

extension URL {
    /// The file, open, whose length is known then.
    func openForForm() throws(URLRequest.MultipartForm.FileError) -> OpenFile {
        // B14.8: the path of another machine's file may lead to one here.
        guard isFileURL, FileCarrier.isOfThisMachine(self) else {
            throw URLRequest.MultipartForm.FileError(file: self, problem: .unreadable(.EINVAL))
        }
        switch OpenFile.open(path: path) {
        case .success(let file): return file
        case .failure(let error): throw URLRequest.MultipartForm.FileError(self, error)
        }
    }
}

extension URLRequest.MultipartForm.FileError {
    fileprivate init(_ file: URL, _ error: SystemError) {
        self.init(file: file, problem: .unreadable(POSIXErrorCode(rawValue: error.errno) ?? .EIO))
    }
}
