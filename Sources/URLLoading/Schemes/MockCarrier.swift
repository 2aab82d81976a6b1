// Carries a hop by the answer that a `URLSession.Mock` has for it.

import Dispatch
import Foundation
import Synchronization
import URLLoadingEngine
import URLLoadingWire

/// Delivers what a test has laid down.
final class MockCarrier: SchemeCarrier {
    private let mock: URLSession.Mock
    /// What supplies the body that is being read.
    private let reading = Mutex<InputStreamSource?>(nil)
    /// What has been read of it: here, where nothing else holds it, so that a piece is put behind
    /// it without a copy of it.
    private let gathered = Mutex(Data())

    init(_ mock: URLSession.Mock) { self.mock = mock }

    func start(_ request: URLRequest, _ load: SchemeLoad) {
        guard let stream = request.httpBodyStream else { return answer(request, load) }
        let source = InputStreamSource(stream)
        reading.withLock { $0 = source }
        read(source, request, load)
    }

    /// Nothing more of the body is read: what supplies it is told, and may be waiting for something that never comes.
    func stop() { reading.withLock { $0.take() }?.close() }

    /// Reads a body on threads that may wait for it.
    private func read(_ source: InputStreamSource, _ request: URLRequest, _ load: SchemeLoad) {
        source.next { [self] piece in
            load.noteProgress()
            switch piece {
            case .bytes(let bytes):
                gathered.withLock { $0.append(contentsOf: bytes) }
                read(source, request, load)
            case .end, .trailers:
                source.close()
                var whole = request
                whole.httpBody = gathered.withLock { exchange(&$0, with: Data()) }
                answer(whole, load)
            case .failed(let error):
                source.close()
                load.failed(
                    LoadFailure.bodyStreamExhausted(
                        request.url, "The request's body stream could not be read.", underlying: error))
            }
        }
    }

    private func answer(_ request: URLRequest, _ load: SchemeLoad) {
        give(mock.answer(to: request), to: request, load)
    }

    private func give(_ answer: URLSession.Mock.Answer, to request: URLRequest, _ load: SchemeLoad) {
        guard answer.delay > .zero else { return giveNow(answer, to: request, load) }
        // A load that has gone meanwhile is not kept for its answer.
        DispatchQueue.global().asyncAfter(deadline: .now() + answer.delay.dispatchInterval) { [weak load] in
            if let load { self.giveNow(answer, to: request, load) }
        }
    }

    private func giveNow(_ answer: URLSession.Mock.Answer, to request: URLRequest, _ load: SchemeLoad) {
        switch answer.kind {
        case .response(let status, let headers, let body):
            load.received(Self.response(request, status, headers, length: body.count))
            if !body.isEmpty, request.httpMethod != "HEAD" { load.received(body: body) }
            load.finished()
        case .failure(let error):
            load.failed(error)
        case .redirect(let target, let status):
            let response = Self.response(request, status, ["Location": target.absoluteString], length: 0)
            let next = RedirectedRequest.make(
                from: request, response: ResponseHead(status: status, fields: response.arrivedFields))
            if let next {
                load.redirected(to: next, by: response)
            } else {
                load.received(response)
                load.finished()
            }
        case .closure(let make):
            do {
                give(try make(request), to: request, load)
            } catch {
                load.failed(error)
            }
        case .silence:
            break
        }
    }

    private static func response(
        _ request: URLRequest, _ status: Int, _ headers: [String: String], length: Int
    ) -> HTTPURLResponse {
        var fields = Fields()
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) { fields.append(FieldName(name), value) }
        if !fields.contains(.contentLength), !fields.contains(.transferEncoding) {
            fields.append(.contentLength, "\(length)")
        }
        return HTTPURLResponse(
            url: request.url, status: status, fields: fields,
            expectedContentLength: fields.first(.contentLength).flatMap { Int64($0) }.flatMap { $0 < 0 ? nil : $0 }
                ?? NSURLSessionTransferSizeUnknown)
    }
}
