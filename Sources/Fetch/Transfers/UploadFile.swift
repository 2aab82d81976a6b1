// A file that is sent from where it is.

import Foundation

/// Files that are sent from where they are.
enum UploadFile {
    /// The length of a file that can be read.
    static func length(_ path: String) throws(FetchError) -> Int64 {
        var facts = stat()
        guard stat(path, &facts) == 0, access(path, R_OK) == 0 else {
            throw FetchError(
                .cannotRead, "\(path) cannot be read: \(FetchError.system(errno))",
                advice: "is the name right? a name without / in front is in the folder that you are in")
        }
        guard facts.st_mode & S_IFMT == S_IFREG else {
            throw FetchError(.cannotRead, "\(path) is no regular file: - sends what comes on standard input")
        }
        return Int64(facts.st_size)
    }
}
