// A hop as it is written down: origin, ways, fields and framing, with what a download or an upload adds. A request that no
// message of HTTP can be made of is for somebody else, or wrong.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy

extension HopPreparation {
    /// Writes down what is sent.
    func write(_ content: HopContent, _ cookies: HopCookies) -> Step? {
        if case .webSocket = task.kind { return writeHandshake(cookies) }
        var hop: Hop
        do throws(URLError) {
            let message = try session.builder.message(
                for: request, after: task.firstRequest, content: content, cookies: cookies)
            hop = Hop(message: message, content: content)
        } catch {
            return isOfAnotherScheme ? loadElsewhere(content) : end(error)
        }
        if task.outlet.savesFile { hop.message = task.askingForRest(hop.message) }
        if task.kind == .upload {
            hop.message = task.upgraded(hop.message, of: request, content)
            // What goes on with an upload is no cache's business.
            if case .part = task.state.withLock({ $0.body }) { return .way(hop) }
        }
        return session.settings.cache == nil ? .way(hop) : .storedAnswer(hop)
    }

    /// Writes the request that asks for a web socket. Each hop has a key of its own.
    private func writeHandshake(_ cookies: HopCookies) -> Step? {
        do throws(URLError) {
            guard let message = try task.handshakeMessage(for: request, cookies: cookies) else { return nil }
            return .way(Hop(message: message, content: .none))
        } catch {
            return end(error)
        }
    }
}

extension TaskCore {
    /// The request of the task's first hop, where it matters to later ones.
    var firstRequest: URLRequest? {
        session?.settings.openAdditionalFields == nil ? nil : state.withLock { $0.firstRequest }
    }
}
