// A credential storage that answers when a test lets it.

import Foundation
import URLLoading

/// Keeps the handlers that it is to call.
final class HeldStorage: URLCredentialStorage, @unchecked Sendable {
    // Safe to share: all that changes is guarded.
    let asked = Signal()
    let handlers = Guarded<[@Sendable (URLCredential?) -> Void]>([])

    override func getDefaultCredential(
        for space: URLProtectionSpace, task: URLSessionTask,
        completionHandler: @escaping @Sendable (URLCredential?) -> Void
    ) {
        handlers.change { $0.append(completionHandler) }
        asked.fire()
    }
}
