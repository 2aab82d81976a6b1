// A resolver of the session's is asked for the ways to a server (B13.31), for hops and for stream tasks.
//
// Must not know: what is set about proxies, how proxies are spoken to.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem

/// A question for the ways to a server.
struct RouteInquiry: Sendable {
    let task: TaskCore
    /// What is reached by them.
    let subject: URL
    /// What errors name.
    let url: URL?

    /// Asks, and goes on with the ways, of which there is one at least. The task can be cancelled meanwhile.
    func begin(until limit: Duration? = nil, then goOn: @escaping @Sendable (TaskCore, [Route]) -> Void) {
        guard let session = task.session else { return }
        guard let resolver = session.settings.proxies.resolver else {
            return fail(
                task, url,
                "Proxies are to be found by a configuration script, which nothing here can run; the session's "
                    + "configuration has no proxyResolver in its place.", isSetting: true)
        }
        guard let wait = task.driver.beginWait(for: .routes, until: limit) else { return }
        let asking = Task { [weak task, subject, url] in
            let answer: Result<[Route], any Error>
            do { answer = .success(try await resolver(subject).map { try $0.route() }) } catch {
                answer = .failure(error)
            }
            guard let task, task.driver.endWait(wait) else { return }
            switch answer {
            case .success(let routes) where !routes.isEmpty: goOn(task, routes)
            case .success: fail(task, url, "The session's proxyResolver has named no way to the server.")
            case .failure(let error):
                fail(task, url, "The session's proxyResolver has failed: \(error)", cause: error)
            }
        }
        task.driver.keep(asking, for: wait)
    }
}

/// Ends the task.
private func fail(
    _ task: TaskCore, _ url: URL?, _ text: String, cause: (any Error)? = nil, isSetting: Bool = false
) {
    task.driver.endUnloaded(LoadFailure.noWay(url, text, cause: cause, isSetting: isSetting))
}

extension ProxyRoute {
    /// The way as the engine takes it.
    func route() throws(ProxyFault) -> Route {
        switch self {
        case .direct: .direct()
        case .proxy(let configuration): .proxied(try configuration.server.get())
        }
    }
}
