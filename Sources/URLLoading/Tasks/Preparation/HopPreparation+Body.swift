// What a hop is sent with: the request's own body, the task's data or file, or a stream that a delegate is asked for.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem

extension HopPreparation {
    /// Finds what is sent.
    mutating func findBody() -> Step? {
        switch hop.body {
        case .request: return findOwnBody()
        case .data(let data): if !withholdsBody { hop.content = .data(data) }
        case .opened(let file, _): if !withholdsBody { hop.content = .file(file) }
        case .file(let url): return withholdsBody ? .cookies : open(url)
        case .delegate: return withholdsBody ? .cookies : findStream()
        // What goes on with an upload says in its fields what it brings.
        case .part(.bytes(let data)): hop.content = .data(data)
        case .part(.nothing): break
        case .part(.section(let file, let start, let count)): hop.content = .section(file, from: start, count: count)
        case .part(.stream): return askForStream()
        case .resuming(let resumed): return takeUp(resumed)
        }
        return .cookies
    }

    private mutating func findOwnBody() -> Step? {
        switch request.values.body {
        case .none: break
        case .data(let data): if !withholdsBody { hop.content = .data(data) }
        case .stream(let lent):
            guard let stream = lent.object, !withholdsBody else { break }
            // B5.94, B5.97: it can be had as often as it takes.
            if let renewed = request.values.renewedStream {
                hop.content = .stream(InputStreamSource(renewed))
                break
            }
            // B5.37: it can be read once, so another sending may need another one.
            let isNew = task.state.withLock { state in
                defer { state.bodyStreams.used = ObjectIdentifier(stream) }
                return state.bodyStreams.used != ObjectIdentifier(stream)
            }
            guard isNew else { return findStream() }
            // Nothing of it is sent, so it is never opened, and a task with nothing to send does not
            // look for it when it ends.
            if request.values.announcedLength == 0 { request.values.closeUnopenedPair() }
            give(stream)
        }
        return .cookies
    }

    /// Whether the hop goes out without the body that it has.
    private var withholdsBody: Bool { task.state.withLock { $0.withholdsBody() } }

    // MARK: Files

    /// B11.5, B11.6.
    private mutating func open(_ url: URL) -> Step? {
        guard url.isFileURL else {
            return end(LoadFailure.unsupportedURL(url, "The file to upload is not named by a file URL."))
        }
        guard FileCarrier.isOfThisMachine(url) else { return end(LoadFailure.fileElsewhere(url)) }
        switch OpenFile.open(path: url.path) {
        case .success(let file):
            guard file.saysItsLength else { return read(file, url) }
            let known = UploadedFile(file, path: url.path)
            task.state.withLock { $0.body = .opened(file, known) }
            task.counters.expectedToSend.store(file.byteCount, ordering: .relaxed)
            hop.content = .file(file)
            return .cookies
        case .failure(let error):
            return end(ErrorMapping.unreadableFile(url, of: request.url, error))
        }
    }

    /// A file that does not say its length, as those of /proc, is read before it is sent.
    private mutating func read(_ file: OpenFile, _ url: URL) -> Step? {
        guard let data = file.wholeContent else {
            return end(
                LoadFailure.make(
                    .cannotOpenFile, request.url,
                    "The file \(url.path) does not say its length, and cannot be read at once."))
        }
        task.state.withLock { $0.body = .data(data) }
        task.counters.expectedToSend.store(Int64(data.count), ordering: .relaxed)
        hop.content = .data(data)
        return .cookies
    }

    /// What goes on with an upload that was begun before is not one hop but a row of them.
    private func takeUp(_ resumed: ResumedUpload) -> Step? {
        task.upload.takeUp(resumed, request)
        return nil
    }

    // MARK: Streams

    /// Finds a stream for another sending. The one before may be whole still: a redirect or a refusal that comes in
    /// place of a server's permission (B5.40) leaves it unread.
    private mutating func findStream() -> Step? {
        guard let unread = task.state.withLock({ $0.bodyStreams.given })?.unread else { return askForStream() }
        give(unread)
        return .cookies
    }

    /// Sends a stream from its beginning.
    private mutating func give(_ stream: InputStream) {
        let source = InputStreamSource(stream)
        note(source)
        hop.content = .stream(source)
    }

    /// Notes what the engine is given for the whole body.
    private func note(_ source: InputStreamSource) {
        task.state.letGo { exchange(&$0.bodyStreams.given, with: source) }
    }

    /// Asks the delegates for a stream (B11.8); the task can be cancelled meanwhile.
    func askForStream() -> Step? {
        // Without a delegate queue there is no delegate.
        guard task.usesRelay else { return endWithoutStream() }
        if let wait = task.driver.beginWait(for: .bodyStream) { task.delivery.post(.needsBodyStream(wait)) }
        return nil
    }

    /// Goes on with what a delegate has supplied.
    fileprivate func takeStream(_ stream: InputStreamSource?) {
        guard let stream else { return _ = endWithoutStream() }
        if carries(with: stream) { return }
        // What goes on with an upload begins elsewhere than at the beginning.
        if case .part = hop.body {} else { note(stream) }
        goOn(with: .cookies) { $0.content = .stream(stream) }
    }

    /// B11.9, B4.12. Where a loss made another stream necessary, the loss stays the reason (B6.26).
    private func endWithoutStream() -> Step? {
        end(
            task.state.withLock { $0.lostSending?.error }
                ?? LoadFailure.bodyStreamExhausted(
                    request.url, "A stream for the request's body is needed, and no delegate has supplied one."))
    }
}

extension TaskHops {
    /// A delegate has supplied a stream for a hop's body, or none.
    func received(_ stream: InputStreamSource?, to wait: WaitNumber) {
        let hop = task.driver.endWait(wait) { state in
            if let stream { state.bodyStreams.supplied.append(stream) }
            return state.hop
        }
        guard let hop else {
            // The task is over, and its end has not seen this stream.
            stream?.values.closeUnopenedPair()
            return
        }
        if let hop { preparation(of: hop)?.takeStream(stream) }
    }

    /// Sends a hop once more whose body was used up and the sending lost: with another stream.
    func loadWithOtherStream() {
        guard let hop = task.state.withLock({ $0.hop }), let preparation = preparation(of: hop) else { return }
        guard case .request = hop.body, let renewed = hop.request.values.renewedStream else {
            return _ = preparation.askForStream()
        }
        preparation.goOn(with: .cookies) { $0.content = .stream(InputStreamSource(renewed)) }
    }
}

extension TaskState {
    /// The hop that the task is at, from its beginning.
    var hop: Hop? { currentRequest.map { Hop(request: $0, body: body) } }
}
