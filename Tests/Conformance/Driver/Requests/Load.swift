// The forms in which the package carries out requests, as one.

import Foundation
import Synchronization
import URLLoading

/// A request that is carried out, and can be cancelled.
protocol Load: AnyObject, Sendable {
    func resume()
    func cancel()
}

extension URLSessionTask: Load {}

/// A request whose body is an asynchronous sequence.
final class BytesLoad: Load {
    private let session: URLSession
    private let request: URLRequest
    private let transfer: Transfer
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(_ session: URLSession, _ request: URLRequest, reportingTo transfer: Transfer) {
        self.session = session
        self.request = request
        self.transfer = transfer
    }

    func resume() {
        task.withLock { task in
            if task == nil { task = Task { await load() } }
        }
    }

    func cancel() {
        task.withLock { $0 }?.cancel()
    }

    private func load() async {
        do {
            let (bytes, response) = try await session.bytes(for: request, delegate: transfer)
            if transfer.received(response) { cancel() }
            for try await chunk in bytes.chunks where transfer.received(chunk) { cancel() }
            transfer.ended(nil)
        } catch {
            transfer.ended(error)
        }
    }
}
