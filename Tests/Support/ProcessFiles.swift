// What the system tells of processes in /proc. Read by hand: Foundation loses a buffer for each
// file there, whose size is 0.

import URLLoadingSystem

/// Files and folders below /proc.
enum ProcessFiles {
    /// The names in a folder; none where there is no such folder.
    static func entries(of path: String) -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") {
                names.append(name)
            }
        }
        return names
    }

    /// A file's text; empty where there is none.
    static func contents(_ path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case let count = read(descriptor, &buffer, buffer.count), count > 0 {
            text += buffer.prefix(count)
        }
        return String(decoding: text, as: UTF8.self)
    }
}
