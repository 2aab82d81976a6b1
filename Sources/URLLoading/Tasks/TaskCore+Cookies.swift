// A task's cookies: those that a hop is sent with, and those that its answer brings (behaviour 8.3, 8.4).
//
// A plain storage is asked at once, on whichever thread the task is, unless its file has not been read: that may take its
// time, for which neither a loop nor the program's thread is the place. One that the program has made a subclass of is called
// like a delegate: before a hop, and in the order of the task's events, never on the loop.

import Foundation
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

extension TaskCore {
    /// Finds a hop's cookies and submits it. Each hop is asked about anew (B8.58).
    func submit(_ request: URLRequest, _ content: HopContent) {
        // Order: the settings are not taken out as a whole, which would copy all of them for every request.
        guard let session, let cookies = session.settings.cookies else {
            return submit(request, content, cookies: .none)
        }
        if let socket = session.settings.socket(of: request) {
            let storage = cookies.storage(behind: socket)
            return submit(
                request, content,
                cookies: request.values.httpShouldHandleCookies
                    ? .stored(in: storage, isTopLevel: isMainDocument(request)) : .none)
        }
        guard cookies.mayBeSent(with: request) else { return submit(request, content, cookies: .none) }
        if cookies.isPlain {
            let stored = HopCookies.stored(in: cookies.storage, isTopLevel: isMainDocument(request))
            if cookies.storage.store.isReady {
                submit(request, content, cookies: stored)
            } else {
                readElsewhere(cookies.storage, for: request, content, stored)
            }
        } else {
            ask(cookies.storage, for: request, content)
        }
    }

    /// Has the file of cookies read before the first hop is built that asks for them. The task can be cancelled meanwhile.
    private func readElsewhere(
        _ storage: HTTPCookieStorage, for request: URLRequest, _ content: HopContent, _ stored: HopCookies
    ) {
        guard let wait = beginWait(for: .cookies) else { return }
        let work = { @Sendable [self] in
            storage.store.prepare()
            if endWait(wait) { submit(request, content, cookies: stored) }
        }
        // Without a thread late is better than never.
        if !BlockingPool.files.run(work) { work() }
    }

    /// The task can be cancelled meanwhile; of several answers the first counts.
    private func ask(_ storage: HTTPCookieStorage, for request: URLRequest, _ content: HopContent) {
        guard let wait = beginWait(for: .cookies) else { return }
        storage.getCookiesFor(face) { [self] cookies in
            if endWait(wait) { submit(request, content, cookies: .given(cookies ?? [])) }
        }
    }

    /// Takes the cookies of a hop's response, on the loop, before anybody sees it (B8.47).
    func takeCookies(of head: ResponseHead, to request: URLRequest?, on reactor: Reactor) {
        guard head.fields.contains(.setCookie), let session, let cookies = session.settings.cookies, let request,
            request.values.httpShouldHandleCookies, cookies.policy != .never, let url = request.url,
            let place = session.builder.cookiePlace(of: url)
        else { return }
        let fields = head.fields.values(.setCookie)
        let socket = session.settings.socket(of: request)
        if cookies.isPlain || socket != nil {
            let context = CookieContext(
                place, mainDocument: request.values.mainDocumentURL, isTopLevel: isMainDocument(request),
                method: request.values.method)
            let storage = socket.map { cookies.storage(behind: $0) } ?? cookies.storage
            storage.receive(fields: fields, from: context, policy: cookies.policy)
        } else {
            let read = cookies.storage.store.read(fields.map(\.utf8), from: place).compactMap { HTTPCookie($0) }
            if !read.isEmpty { post(.cookies(read), on: reactor) }
        }
    }

    /// Gives a storage of the program's what came for it, on the delegate queue.
    func store(_ cookies: [HTTPCookie]) {
        session?.settings.cookies?.storage.storeCookies(cookies, for: face)
    }

    /// Whether the task loads the main document itself, by whatever redirects (B8.59).
    private func isMainDocument(_ request: URLRequest) -> Bool {
        guard let main = request.values.mainDocumentURL else { return false }
        return originalRequest?.url == main
    }
}
