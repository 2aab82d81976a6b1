// Files that are read whole, by a descriptor: pipes and devices are such files, too, which Foundation's readers refuse.

import Foundation

/// Reads files.
enum InputFile {
    /// Why a file could not be read.
    struct Unreadable: Error {
        let number: Int32

        /// In the system's words.
        var reason: String { FetchError.system(number) }
    }

    /// The bytes of a file, of which no more than `most` are taken.
    static func contents(of path: String, most: Int = .max) throws(Unreadable) -> Data {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Unreadable(number: errno) }
        defer { close(descriptor) }
        return try contents(ofDescriptor: descriptor, most: most)
    }

    /// The bytes of a file, or of standard input where it is `-`; no more than `most`.
    static func contents(ofInputOr path: String, most: Int = .max) throws(Unreadable) -> Data {
        try path == "-" ? contents(ofDescriptor: STDIN_FILENO, most: most) : contents(of: path, most: most)
    }

    /// What comes from a descriptor until its end.
    static func contents(ofDescriptor descriptor: Int32, most: Int = .max) throws(Unreadable) -> Data {
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while data.count < most {
            let count = FileDescriptor.read(descriptor, &buffer, min(buffer.count, most - data.count))
            guard count >= 0 else { throw Unreadable(number: errno) }
            if count == 0 { break }
            data += buffer.prefix(count)
        }
        return data
    }
}
