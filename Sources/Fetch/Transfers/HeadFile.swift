// The file of --dump-header: the heads of all answers, as they come.

import Foundation
import Synchronization
import URLLoading

/// Takes heads. They are written under a lock, so that those of transfers at once do not mix.
final class HeadFile: Sendable {
    private let descriptor: Int32
    private let writing = Mutex(())

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

    func append(_ response: HTTPURLResponse, _ patience: Patience) throws(FetchError) {
        let head = Data(HeadText.of(response).utf8)
        let error = writing.withLock { _ in FileDescriptor.write(head, to: descriptor, patience) }
        if error != 0 { throw FetchError.writing("the file of heads", error) }
    }
}
