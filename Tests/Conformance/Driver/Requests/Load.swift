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
            if transfer.received(response) { return await stop(bytes) }
            for try await chunk in bytes.chunks where transfer.received(chunk) { return await stop(bytes) }
            transfer.ended(nil)
        } catch {
            transfer.ended(error)
        }
    }

    /// Cancels where the options say so. What is there already, the end included, does not count any more: how much
    /// that is is chance.
    private func stop(_ bytes: URLSession.AsyncBytes) async {
        bytes.task.cancel()
        // Waited for, since metrics come with the end.
        do { for try await _ in bytes.chunks {} } catch {}
        transfer.ended(URLError(.cancelled))
    }
}

/// A download that is stopped on its way and goes on with what it has.
final class ResumedDownload: Load {
    private struct State {
        var task: URLSessionDownloadTask
        var isCancelled = false
    }

    private let session: URLSession
    private let transfer: Transfer
    private let state: Mutex<State>

    init(_ session: URLSession, _ request: URLRequest, reportingTo transfer: Transfer) {
        self.session = session
        self.transfer = transfer
        let task = session.downloadTask(with: request)
        task.delegate = transfer
        state = Mutex(State(task: task))
        transfer.whenStopped { [weak self] in self?.goOn(with: $0) }
    }

    func resume() { state.withLock(\.task).resume() }

    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task.cancel()
    }

    private func goOn(with data: Data) {
        let task = session.downloadTask(withResumeData: data)
        task.delegate = transfer
        let isCancelled = state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        task.resume()
        if isCancelled { task.cancel() }
    }
}
