// The file of --dump-header: the heads of all answers, as they come.

import Foundation
import URLLoading

/// Takes heads. A write is one call, so that heads of transfers at once do not mix.
final class HeadFile: Sendable {
    private let descriptor: Int32

    /// Makes the file anew; `-` is standard output.
    init(_ path: String) throws(FetchError) {
        if path == "-" {
            descriptor = STDOUT_FILENO
            return
        }
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw FetchError(.cannotWrite, "\(path) cannot be written: \(FetchError.system(errno))")
        }
    }

    deinit { if descriptor != STDOUT_FILENO { close(descriptor) } }

    func append(_ response: HTTPURLResponse) throws(FetchError) {
        let error = FileDescriptor.write(Data(HeadText.of(response).utf8), to: descriptor)
        if error != 0 {
            throw FetchError(.cannotWrite, "the file of heads cannot be written: \(FetchError.system(error))")
        }
    }
}
