// A server of events, and the calls that listen to it.

import Foundation
import URLLoading
import URLLoadingLoopbackServer

/// Gives answers one after the other, then 204, and keeps the requests.
final class EventDesk: Sendable {
    let requests = Guarded<[ServerRequest]>([])
    private let answers: [ServerResponse]

    init(_ answers: ServerResponse...) { self.answers = answers }

    func answer(_ request: ServerRequest) -> ServerResponse {
        var index = 0
        requests.change { requests in
            index = requests.count
            requests.append(request)
        }
        return index < answers.count ? answers[index] : .status(204)
    }

    func fields(_ name: String) -> [String?] { requests.value.map { $0.fields.first(.init(name)) } }

    /// Runs `body` with the events of a server that answers so.
    func serve(_ body: (URLSession.ServerSentEvents, LoopbackServer) async throws -> Void) async throws {
        try await withServer(router: { self.answer($0) }) { server in
            let session = URLSession(configuration: .ephemeral)
            try await body(session.serverSentEvents(from: try server.at("/")), server)
            session.invalidateAndCancel()
        }
    }
}

extension ServerResponse {
    /// A whole stream of events.
    static func events(_ text: String) -> ServerResponse { .bytes(Array(text.utf8), type: "text/event-stream") }

    /// A stream of events in pieces.
    static func events(_ pieces: [Piece], framing: Framing) -> ServerResponse {
        .slow(pieces, framing: framing).adding("Content-Type", "text/event-stream")
    }
}

extension URLSession.ServerSentEvents {
    /// The data of all events, when there are no more.
    func allData() async throws -> [String] {
        var all: [String] = []
        for try await event in self { all.append(event.data) }
        return all
    }
}

/// Tells that a load has ended: its metrics are the last that the delegate of an async call hears.
final class EndScribe: NSObject, URLSessionTaskDelegate {
    private let onEnd: @Sendable () -> Void

    init(_ onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        onEnd()
    }
}
