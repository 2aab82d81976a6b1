// What is settled about a hop when it begins, for its receiver.

import Foundation
import URLLoadingWire

/// What a receiver has to know about its hop.
struct HopPlan: Sendable {
    let request: URLRequest?
    let sentFields: Fields?
    /// Where the task's result goes, as things stood.
    let outlet: TaskOutlet
    /// The body goes to a delegate piece by piece.
    let streamsBody: Bool
    /// A delegate may have to be asked about the response.
    let asksResponse: Bool
    /// A delegate may have to be asked about a redirect.
    let asksRedirect: Bool
    /// A delegate hears of what is sent, of informational responses and of metrics.
    let tellsDelegate: Bool
    let redirectsSoFar: Int
    /// Something goes with the request on which the other side has still to say yes or no.
    let provesItself: Bool
    /// What a cache has to do with the answer.
    let cache: CachePart?
    /// A delegate may have to be asked about what is stored.
    let asksStoring: Bool
    /// What the hop has to do with an upload that may be resumed.
    let upload: UploadHop?
    /// What the hop asks for in place of a response.
    let webSocket: WebSocketHop?

    /// The body is collected for a handler or an async call.
    var collectsBody: Bool { outlet.takesWholeBody }

    /// The body goes to a file.
    var savesFile: Bool { outlet.savesFile }

    /// The body goes to a file, perhaps only since the delegate has said so (B1.68).
    func savesFile(of task: TaskCore) -> Bool { savesFile || asksResponse && task.savesFile }

    /// The pipe to the program's iteration over what comes.
    var pipe: EventPipe? { outlet.pipe }

    /// Whether the program sees the body as it comes.
    var isBodySeen: Bool { streamsBody || pipe != nil }

    /// The URL as the program knows it.
    var url: URL? { upload?.request.url ?? request?.url }

    /// What a redirect starts from.
    var redirectable: URLRequest? {
        guard let upload, upload.isHelper else { return request }
        return upload.redirectable(at: request?.url)
    }

    /// Whether metrics will be told.
    var keepsRecords: Bool { tellsDelegate || pipe?.scope == .everything }
}
