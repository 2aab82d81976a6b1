// A hop as it is written down: origin, ways, fields and framing, with what a download or an upload adds. A request that
// no message of HTTP can be made of is of another scheme, or wrong.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy

extension HopPreparation {
    /// Writes down what is sent.
    mutating func writeMessage() -> Step? {
        if let calls = task.webSocketCalls { return writeHandshake(for: calls) }
        let session = session
        do throws(URLError) {
            hop.message = try session.builder.message(
                for: request, after: task.firstRequest, content: hop.content, cookies: hop.cookies)
        } catch {
            return isOfAnotherScheme ? loadElsewhere() : end(error)
        }
        if task.savesFile { hop.message = hop.message.map { task.download.askingForRest($0) } }
        if task.isUpload {
            hop.message = hop.message.map { task.upload.upgraded($0, of: request, hop.content) }
            // What goes on with an upload is no cache's business.
            if case .part = hop.body { return .way }
        }
        return session.settings.cache == nil ? .way : .storedAnswer
    }
}

extension TaskCore {
    /// The request of the task's first hop, where it matters to later ones.
    var firstRequest: URLRequest? {
        session?.settings.openAdditionalFields == nil ? nil : state.withLock { $0.firstRequest }
    }
}
