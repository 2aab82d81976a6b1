// What a download has left. Foundation's own way of reading leaks 4 KiB for each empty file, which
// hides what we would leak.

import Foundation

extension Data {
    /// The contents of a file.
    init(downloadedTo file: URL) throws {
        let size = try file.resourceValues(forKeys: [.fileSizeKey]).fileSize
        self = size == 0 ? Data() : try Data(contentsOf: file)
    }
}
