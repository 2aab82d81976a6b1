// Requests in every form that the API has: with a handler, with a delegate, as an asynchronous call, as a sequence of
// bytes, to a file.

import Foundation
import URLLoading
import URLLoadingTestSupport

/// The form in which a request is made.
enum Form: CaseIterable, Sendable {
    case handler, delegate, asynchronous, sequence, downloadHandler, downloadDelegate, downloadAsynchronous
}

extension Lane {
    /// Makes a request and waits for its one end.
    func load(
        _ request: URLRequest, _ what: String, as form: Form, in session: URLSession? = nil,
        cancelling point: CancelPoint? = nil, isSlow: Bool = false, upload: Data? = nil,
        newBody: (@Sendable () -> InputStream?)? = nil
    ) async -> Ending {
        let session = session ?? self.session
        let number = ledger.begin(what, kind.rawValue, request.url?.absoluteString ?? "")
        let isFirst: @Sendable () -> Bool = { [ledger] in ledger.complete(number, what) }
        switch form {
        case .handler, .downloadHandler:
            return await loadWithHandler(request, as: form, in: session, point, upload, newBody, isFirst)
        case .delegate, .downloadDelegate:
            let watcher = Watcher(cancelAfter: point?.bytes, suspends: isSlow, newBody: newBody, isFirst: isFirst)
            let task: URLSessionTask =
                if let upload {
                    session.uploadTask(with: request, from: upload)
                } else if form == .delegate {
                    session.dataTask(with: request)
                } else {
                    session.downloadTask(with: request)
                }
            // Order: a task that is cancelled before it has its delegate cannot tell it of its end.
            task.delegate = watcher
            point?.arm { task.cancel() }
            return await watcher.end(of: task)
        case .asynchronous, .sequence, .downloadAsynchronous:
            let ending = await loadAsynchronously(
                request, as: form, in: session, point, upload, newBody, isSlow: isSlow)
            _ = isFirst()
            return ending
        }
    }

    private func loadWithHandler(
        _ request: URLRequest, as form: Form, in session: URLSession, _ point: CancelPoint?, _ upload: Data?,
        _ newBody: (@Sendable () -> InputStream?)?, _ isFirst: @escaping @Sendable () -> Bool
    ) async -> Ending {
        let watcher = Watcher(newBody: newBody)
        return await withHandover { handover in
            let end: @Sendable (Data?, URLResponse?, (any Error)?) -> Void = { data, response, error in
                guard isFirst() else { return }
                var ending = Ending(body: data ?? Data(), response: response, error: error)
                (ending.ports, ending.protocols) = watcher.ways
                handover.resume(returning: ending)
            }
            let task: URLSessionTask =
                if let upload {
                    session.uploadTask(with: request, from: upload, completionHandler: end)
                } else if form == .handler {
                    session.dataTask(with: request, completionHandler: end)
                } else {
                    session.downloadTask(with: request) { location, response, error in
                        end(location.flatMap { try? Data(downloadedTo: $0) }, response, error)
                    }
                }
            task.delegate = watcher
            task.resume()
            point?.arm { task.cancel() }
        }
    }

    private func loadAsynchronously(
        _ request: URLRequest, as form: Form, in session: URLSession, _ point: CancelPoint?, _ upload: Data?,
        _ newBody: (@Sendable () -> InputStream?)?, isSlow: Bool
    ) async -> Ending {
        let watcher = Watcher(newBody: newBody)
        let call = Task { () -> Ending in
            var ending = Ending()
            do {
                switch form {
                case .sequence:
                    let (bytes, response) = try await session.bytes(for: request, delegate: watcher)
                    ending.response = response
                    for try await chunk in bytes.chunks {
                        ending.body.append(chunk)
                        if isSlow { try await Task.sleep(for: .milliseconds(2)) }
                    }
                case .downloadAsynchronous:
                    let (file, response) = try await session.download(for: request, delegate: watcher)
                    ending.response = response
                    ending.body = try Data(downloadedTo: file)
                    try FileManager.default.removeItem(at: file)
                default:
                    if let upload {
                        (ending.body, ending.response) = try await session.upload(
                            for: request, from: upload, delegate: watcher)
                    } else {
                        (ending.body, ending.response) = try await session.data(for: request, delegate: watcher)
                    }
                }
            } catch is CancellationError {
                ending.error = URLError(.cancelled)
            } catch {
                ending.error = error
            }
            return ending
        }
        point?.arm { call.cancel() }
        var ending = await call.value
        (ending.ports, ending.protocols) = watcher.ways
        return ending
    }
}

extension CancelPoint {
    var bytes: Int? {
        if case .afterBytes(let count) = self { count } else { nil }
    }

    /// Cancels when the point comes, unless that is the watcher's matter.
    fileprivate func arm(_ cancel: @escaping @Sendable () -> Void) {
        switch self {
        case .afterYields(let count):
            Task {
                for _ in 0..<count { await Task.yield() }
                cancel()
            }
        case .after(let duration):
            Task {
                try? await Task.sleep(for: duration)
                cancel()
            }
        case .afterBytes: break
        }
    }
}
