// Classes of the program's that may carry a hop: they are asked, one is made, and it gets the
// hop's request with its body.
//
// All of this happens on two serial queues of the session's own, one for the question and one for what follows, never
// on a loop: it is the program's code.
//
// Must not know: what a class does, how its client reports.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

extension HopPreparation {
    /// Asks the classes about a hop. The task can be cancelled meanwhile.
    func askClasses() -> Step? {
        guard let protocols = session.protocols, protocols.mayCarry else { return .body }
        // No class of the program's can be a web socket, nor can the answers of a test.
        if task.kindName == .webSocket {
            guard protocols.mock != nil else { return .body }
            return end(LoadFailure.unsupportedURL(request.url, "A URLSession.Mock opens no web socket."))
        }
        // The rest of an upload is carried by what has carried its beginning.
        if case .part = hop.body { return .body }
        HopClasses(hop: self, protocols: protocols).ask()
        return nil
    }

    /// A delegate has supplied the stream that a class waits for; false where none does.
    func carries(with source: InputStreamSource) -> Bool {
        guard let protocols = session.protocols else { return false }
        let waiting = task.state.withLock { state in
            defer { state.waitingChoice = nil }
            return state.waitingChoice
        }
        guard let chosen = waiting else { return false }
        HopClasses(hop: self, protocols: protocols).begin(chosen, with: source)
        return true
    }
}

/// A hop that a class of the program's may carry.
private struct HopClasses: Sendable {
    let hop: HopPreparation
    let protocols: SessionProtocols

    private var task: TaskCore { hop.task }

    /// Asks the classes, and lets the one that wants the hop load it.
    func ask() {
        let (request, body, session) = (hop.request, hop.hop.body, hop.session)
        // B14.39.
        let seen = request.adding(session.builder.additionalFields(for: request, after: task.firstRequest))
        guard let wait = task.driver.beginWait(for: .protocolClass) else { return }
        task.state.withLock { state in
            state.currentRequest = seen
            state.sentFields = nil
        }
        protocols.questions.async {
            guard let chosen = protocols.choice(for: task.face) else {
                if takesUp(request, wait) { goWithoutClass() }
                return
            }
            if task.kindName == .warmUp { return refuse(request, wait) }
            protocols.queue.async { supplyBody(body, of: seen, to: chosen, wait) }
        }
    }

    /// What a class loads has no connection that could be opened.
    private func refuse(_ request: URLRequest, _ wait: WaitNumber) {
        guard task.driver.endWait(wait) else { return }
        task.driver.endUnloaded(
            LoadFailure.unsupportedURL(
                request.url, "A class of the program's loads this URL, so that there is no connection to be opened."))
    }

    private func goWithoutClass() {
        let isRedirected = task.state.withLock { $0.redirect.count > 0 }
        // B4.31: what is built in takes no redirect out of HTTP, now that no class wants it.
        if isRedirected, let refusal = RedirectedRequest.refusal(hop.request, handled: false) {
            return task.driver.endUnloaded(refusal)
        }
        hop.goOn(with: .body) { _ in }
    }

    /// Whether the task still wants to go on, with this request then.
    private func takesUp(_ request: URLRequest, _ wait: WaitNumber) -> Bool {
        task.driver.endWait(wait) { $0.currentRequest = request } != nil
    }

    // MARK: The body

    /// B14.38: the class can read the body that the task has, whichever form it came in.
    private func supplyBody(
        _ body: TaskBody, of seen: URLRequest, to chosen: ProtocolChoice, _ wait: WaitNumber
    ) {
        var request = seen
        switch body {
        case .request:
            if let renewed = request.values.renewedStream {
                request.httpBodyStream = renewed
            } else if case .stream = request.values.body {
                // The class may read it, and then it is whole no more.
                task.state.letGo { exchange(&$0.bodyStreams.given, with: nil) }
            }
        case .part: break
        case .data(let data): request.httpBody = data
        case .file(let url):
            switch OpenFile.open(path: url.path) {
            case .success(let file):
                let length = file.saysItsLength ? file.byteCount : NSURLSessionTransferSizeUnknown
                task.counters.expectedToSend.store(length, ordering: .relaxed)
                request.httpBodyStream = InputStream(url: url)
            case .failure(let error):
                return end(ErrorMapping.unreadableFile(url, of: request.url, error), of: seen, wait)
            }
        case .opened(let file, _):
            guard let data = file.wholeContent else {
                return end(
                    LoadFailure.bodyStreamExhausted(request.url, "The file to upload could not be read."), of: seen,
                    wait)
            }
            request.httpBody = data
        case .resuming:
            return end(
                LoadFailure.unsupportedURL(
                    request.url, "An upload can be gone on with over HTTP only, not by a URLProtocol or a mock."),
                of: seen, wait)
        case .delegate:
            guard takesUp(request, wait) else { return }
            task.state.withLock { $0.waitingChoice = chosen }
            return _ = hop.askForStream()
        }
        carry(request, by: chosen, wait)
    }

    /// The class that waits for a stream gets the one that a delegate has supplied.
    func begin(_ chosen: ProtocolChoice, with source: InputStreamSource) {
        guard let wait = task.driver.beginWait(for: .protocolClass) else { return }
        protocols.queue.async {
            var request = hop.request
            request.httpBodyStream = source.stream
            carry(request, by: chosen, wait)
        }
    }

    private func end(_ error: URLError, of request: URLRequest, _ wait: WaitNumber) {
        if takesUp(request, wait) { task.driver.endUnloaded(error) }
    }

    // MARK: The instance

    /// Makes what carries the hop, and lets it load.
    private func carry(_ request: URLRequest, by chosen: ProtocolChoice, _ wait: WaitNumber) {
        switch chosen {
        case .mock(let mock): if takesUp(request, wait) { task.hops.carry(request, by: MockCarrier(mock)) }
        case .type(let type):
            // B14.35.
            let canonical = type.canonicalRequest(for: request)
            let part = cachePart(of: canonical)
            let cached = part.flatMap { part in
                part.session.cache.cachedResponse(for: canonical).flatMap {
                    // B7.102: what the class is shown it may give out as the answer.
                    task.trust.demand(of: canonical, in: part.session).admits($0.trust) ? $0 : nil
                }
            }
            guard takesUp(canonical, wait) else { return }
            let client = CarrierClient()
            let instance = type.init(task: task.face, cachedResponse: cached, client: client)
            task.hops.carry(canonical, by: ProtocolCarrier(instance, client, on: protocols.queue), cache: part)
        }
    }

    /// B14.52: only what http and https bring is kept, and not where it goes to a file.
    private func cachePart(of request: URLRequest) -> CachePart? {
        let session = hop.session
        guard let cache = session.settings.cache, !task.savesFile, request.values.method == "GET",
            let scheme = request.url?.scheme, Scheme(scheme) != nil, let key = session.settings.cacheKey(of: request)
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
