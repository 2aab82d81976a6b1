// What each hop of a task is sent with: the request's own body, the task's data or file, or a stream that a delegate is
// asked for.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem

extension TaskCore {
    /// Finds the body of a hop and submits it.
    func load(_ request: URLRequest, body: TaskBody) {
        // No class of the program's can be a web socket.
        if case .webSocket = kind { return submit(request, HopContent.none) }
        guard let protocols = session?.protocols, protocols.mayCarry else { return loadItself(request, body: body) }
        // What goes on with an upload belongs to whoever began it.
        if case .part = body { return loadItself(request, body: body) }
        ask(protocols, about: request, body: body)
    }

    /// The same where no class of the program's carries the hop.
    func loadItself(_ request: URLRequest, body: TaskBody) {
        switch body {
        case .request: loadWithOwnBody(request)
        case .data(let data): submit(request, .data(data))
        case .opened(let file, _): submit(request, .file(file))
        case .file(let url): open(url, for: request)
        case .delegate: askForStream(request)
        case .part(.nothing): submit(request, .none)
        case .part(.section(let file, let start, let count)): submit(request, .section(file, from: start, count: count))
        case .part(.bytes(let data)): submit(request, .data(data))
        case .part(.stream): askForStream(request)
        case .resuming(let resumed): load(request, resuming: resumed)
        }
    }

    private func loadWithOwnBody(_ request: URLRequest) {
        switch request.values.body {
        case .none: submit(request, .none)
        case .data(let data): submit(request, .data(data))
        case .stream(let stream):
            // B5.37: it can be read once, so another sending needs another one.
            let isNew = state.withLock { state in
                defer { state.usedStream = ObjectIdentifier(stream) }
                return state.usedStream != ObjectIdentifier(stream)
            }
            if isNew {
                submit(request, .stream(InputStreamSource(stream)))
            } else {
                askForStream(request)
            }
        }
    }

    // MARK: Files

    /// B11.5, B11.6.
    private func open(_ url: URL, for request: URLRequest) {
        guard url.isFileURL else {
            endUnloaded(LoadFailure.unsupportedURL(url, "The file to upload is not named by a file URL."))
            return
        }
        switch OpenFile.open(path: url.path) {
        case .success(let file):
            let known = UploadedFile(file, path: url.path)
            state.withLock { $0.body = .opened(file, known) }
            counters.expectedToSend.store(file.byteCount, ordering: .relaxed)
            submit(request, .file(file))
        case .failure(let error):
            endUnloaded(ErrorMapping.unreadableFile(url, of: request.url, error))
        }
    }

    // MARK: Streams

    /// Asks the delegates for a stream (B11.8); the task can be cancelled meanwhile.
    func askForStream(_ request: URLRequest) {
        // Without a delegate queue there is no delegate.
        guard usesRelay else { return endWithoutStream(request) }
        guard let wait = beginWait(for: .bodyStream) else { return }
        post(.needsBodyStream(wait))
    }

    /// A delegate has answered.
    func received(_ stream: InputStreamSource?, to wait: WaitNumber) {
        let request = state.withLock { $0.endWait(wait) ? $0.currentRequest : nil }
        guard let request else { return }
        if let stream, carryOn(request, with: stream) { return }
        if let stream { submit(request, .stream(stream)) } else { endWithoutStream(request) }
    }

    /// B11.9, B4.12. Where a loss made another stream necessary, the loss stays the reason (B6.26).
    private func endWithoutStream(_ request: URLRequest) {
        endUnloaded(
            state.withLock { $0.lostSending?.error }
                ?? LoadFailure.bodyStreamExhausted(
                    request.url, "A stream for the request's body is needed, and no delegate has supplied one."))
    }
}
