// Classes of the program's that may carry a hop: they are asked, one is made, and it gets the hop's request with its body.
//
// All of this happens on the session's own serial queue, never on a loop: it is the program's code.
//
// Must not know: what a class does, how its client reports.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

extension TaskCore {
    /// Asks the classes about a hop, and loads it. The task can be cancelled meanwhile.
    func ask(_ protocols: SessionProtocols, about request: URLRequest, body: TaskBody) {
        // B14.39.
        let first = firstRequest
        let seen = session.map { request.adding($0.builder.additionalFields(for: request, after: first)) } ?? request
        guard let wait = beginWait(for: .protocolClass) else { return }
        state.withLock { state in
            state.currentRequest = seen
            state.sentFields = nil
        }
        protocols.queue.async { [self] in
            let face = face
            if let chosen = protocols.choice(for: face) {
                supplyBody(body, of: seen, to: chosen, wait)
            } else if goOn(with: request, after: wait) {
                // B4.31: what is built in takes no redirect out of HTTP, now that no class wants it.
                if isRedirected, let refusal = RedirectedRequest.refusal(request, handled: false) {
                    return endUnloaded(refusal)
                }
                loadItself(request, body: body)
            }
        }
    }

    private var isRedirected: Bool { state.withLock { $0.redirect.count > 0 } }

    /// Whether the task still wants to go on.
    private func goOn(with request: URLRequest, after wait: WaitNumber) -> Bool {
        state.withLock { state in
            guard state.endWait(wait) else { return false }
            state.currentRequest = request
            return true
        }
    }

    // MARK: The body

    /// B14.38: the class can read the body that the task has, whichever form it came in.
    private func supplyBody(
        _ body: TaskBody, of request: URLRequest, to chosen: ProtocolChoice, _ wait: WaitNumber
    ) {
        var request = request
        switch body {
        case .request, .part: break
        case .data(let data): request.httpBody = data
        case .file(let url):
            switch OpenFile.open(path: url.path) {
            case .success(let file):
                counters.expectedToSend.store(file.byteCount, ordering: .relaxed)
                request.httpBodyStream = InputStream(url: url)
            case .failure(let error):
                if goOn(with: request, after: wait) {
                    endUnloaded(ErrorMapping.unreadableFile(url, of: request.url, error))
                }
                return
            }
        case .opened(let file, _):
            guard let data = file.wholeContent else {
                if goOn(with: request, after: wait) {
                    endUnloaded(
                        LoadFailure.bodyStreamExhausted(request.url, "The file to upload could not be read."))
                }
                return
            }
            request.httpBody = data
        case .resuming:
            if goOn(with: request, after: wait) {
                endUnloaded(
                    LoadFailure.unsupportedURL(
                        request.url, "An upload can be gone on with over HTTP only, not by a URLProtocol or a mock."))
            }
            return
        case .delegate:
            guard goOn(with: request, after: wait) else { return }
            state.withLock { $0.waitingChoice = chosen }
            return askForStream(request)
        }
        begin(chosen, with: request, wait)
    }

    /// A delegate has supplied the stream that a class waits for; false where none does.
    func carryOn(_ request: URLRequest, with source: InputStreamSource) -> Bool {
        guard let protocols = session?.protocols else { return false }
        let waiting = state.withLock { state in
            defer { state.waitingChoice = nil }
            return state.waitingChoice
        }
        guard let chosen = waiting else { return false }
        guard let wait = beginWait(for: .protocolClass) else { return true }
        protocols.queue.async { [self] in
            var request = request
            request.httpBodyStream = source.stream
            begin(chosen, with: request, wait)
        }
        return true
    }

    // MARK: The instance

    /// Makes what carries the hop, and lets it load.
    private func begin(_ chosen: ProtocolChoice, with request: URLRequest, _ wait: WaitNumber) {
        switch chosen {
        case .type(let type): begin(type, with: request, wait)
        case .mock(let mock): if goOn(with: request, after: wait) { carry(request, by: MockCarrier(mock)) }
        }
    }

    private func begin(_ chosen: URLProtocol.Type, with request: URLRequest, _ wait: WaitNumber) {
        guard let protocols = session?.protocols else { return }
        // B14.35.
        let canonical = chosen.canonicalRequest(for: request)
        let part = cachePart(of: canonical)
        let cached = part.flatMap { part in
            part.session.cache.cachedResponse(for: canonical).flatMap {
                // B7.102: what the class is shown it may give out as the answer.
                trustDemand(of: canonical, in: part.session).admits($0.trust) ? $0 : nil
            }
        }
        guard goOn(with: canonical, after: wait) else { return }
        let client = CarrierClient()
        let instance = chosen.init(task: face, cachedResponse: cached, client: client)
        carry(canonical, by: ProtocolCarrier(instance, client, on: protocols.queue), cache: part)
    }

    /// B14.52: only what http and https bring is kept, and not where it goes to a file.
    private func cachePart(of request: URLRequest) -> CachePart? {
        guard let cache = session?.settings.cache, !outlet.savesFile, request.values.method == "GET",
            let scheme = request.url?.scheme, Scheme(scheme) != nil, let key = request.cacheKey
        else { return nil }
        return CachePart(cache, key, nil)
    }
}

extension URLRequest {
    /// The request with those of the fields that it has not itself (B5.15).
    fileprivate func adding(_ fields: Fields) -> URLRequest {
        guard !fields.isEmpty else { return self }
        var request = self
        for index in 0..<fields.count {
            let name = String(describing: fields.name(at: index))
            if request.value(forHTTPHeaderField: name) == nil {
                request.setValue(fields.value(at: index), forHTTPHeaderField: name)
            }
        }
        return request
    }
}

extension OpenFile {
    /// Everything that is in it, for whoever cannot read it piece by piece; may wait for the disk.
    fileprivate var wholeContent: Data? {
        var content = Data(count: Int(clamping: byteCount))
        var offset = 0
        while offset < content.count {
            let result = content.withUnsafeMutableBytes { buffer in
                read(at: Int64(offset), into: UnsafeMutableRawBufferPointer(rebasing: buffer[offset...]))
            }
            guard case .success(let count) = result else { return nil }
            offset += count
        }
        return content
    }
}
