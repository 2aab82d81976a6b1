// The cookies that a hop's answer brings (behaviour 8.4). With which a hop is sent, is said in
// `HopPreparation+Cookies`.
//
// A storage that the program has made a subclass of is called like a delegate, in the order of the task's events.

import Foundation
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

/// A task as one that brings cookies.
struct TaskCookies: Sendable {
    let task: TaskCore

    /// Takes the cookies of a hop's response, on the loop, before the program sees it (B8.47).
    func take(from head: ResponseHead, to request: URLRequest?, on reactor: Reactor) {
        guard head.fields.contains(.setCookie), let session = task.session, let cookies = session.settings.cookies,
            let request, request.values.httpShouldHandleCookies, cookies.policy != .never, let url = request.url,
            let place = session.builder.cookiePlace(of: url)
        else { return }
        let fields = head.fields.values(.setCookie)
        let socket = session.settings.socket(of: request)
        if cookies.isPlain || socket != nil {
            let context = context(of: request, at: place)
            let storage = socket.map { cookies.storage(behind: $0) } ?? cookies.storage
            storage.receive(fields: fields, from: context, policy: cookies.policy)
        } else {
            let read = cookies.storage.store.read(fields.map(\.utf8), from: place).compactMap { HTTPCookie($0) }
            if !read.isEmpty { task.delivery.post(.cookies(read), on: reactor) }
        }
    }

    /// Gives a storage of the program's what came for it, on the delegate queue.
    func storeInProgramsOwn(_ cookies: [HTTPCookie]) {
        task.session?.settings.cookies?.storage.storeCookies(cookies, for: task.face)
    }

    /// Gives a storage of the program's what an answer from `url` has brought, on the delegate queue. The current
    /// request may be behind a redirect by now, and the storage would judge the cookies by that one's host.
    func storeInProgramsOwn(_ cookies: [HTTPCookie], from url: URL) {
        guard let own = task.session?.settings.cookies, let request = task.currentRequest,
            let place = CookiePlace(url), place != request.url.flatMap({ CookiePlace($0) })
        else { return storeInProgramsOwn(cookies) }
        guard CookieRules.refusal(CookiePolicy(own.policy), of: context(of: request, at: place)) == nil else { return }
        own.storage.setCookies(cookies, for: url, mainDocumentURL: request.mainDocumentURL, under: own.policy)
    }

    /// A request of the task as cookies see it, where they come from or go to `place`.
    func context(of request: URLRequest, at place: CookiePlace) -> CookieContext {
        CookieContext(
            place, mainDocument: request.values.mainDocumentURL, isTopLevel: isMainDocument(request),
            method: request.values.method)
    }

    /// Whether the task loads the main document itself, by whatever redirects (B8.59).
    func isMainDocument(_ request: URLRequest) -> Bool {
        guard let main = request.values.mainDocumentURL else { return false }
        return task.originalRequest?.url == main
    }
}

extension TaskCore {
    /// What the task has to do with cookies.
    var cookies: TaskCookies { TaskCookies(task: self) }
}
