// Files that hold secrets: cookies, archives, notes. Written in one step, readable by their owner only.

import Foundation

/// Files for their owner alone.
enum PrivateFile {
    /// Writes what the user wants under a name: a file in one step, and through to standard output, a device or a pipe.
    static func write(_ data: Data, named name: String) throws(FetchError) {
        let place = OutputPlace(name)
        if try place.writeThrough(data) { return }
        let error = write(data, to: place.path)
        if error != 0 { throw FetchError(.cannotWrite, "\(name) cannot be written: \(FetchError.system(error))") }
    }

    /// Writes a file in one step, with rights for its owner only; the error number where it cannot, 0 otherwise.
    static func write(_ data: Data, to path: String) -> Int32 {
        // mkstemp gives no other user any right, whatever the mask says.
        var template = Array("\(path).XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { return errno }
        let temporary = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        var error = FileDescriptor.write(data, to: descriptor)
        if close(descriptor) != 0, error == 0 { error = errno }
        if error == 0, rename(temporary, path) != 0 { error = errno }
        if error != 0 { unlink(temporary) }
        return error
    }
}
