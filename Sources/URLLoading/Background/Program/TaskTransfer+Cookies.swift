// Cookies of tasks of background sessions: those that go with a request when it is handed over, and those that came
// with responses, when the program was there and when it was not (B8.47, B8.57).
//
// Must not know: which process the owner is.

import Foundation
import URLLoadingPolicy
import URLLoadingSystem

extension TaskTransfer {
    /// Finds what the session's storage has for the task's current request. One of a class of the program's may say it
    /// late, on any thread; the task can be cancelled meanwhile.
    func findCookies(for request: URLRequest?, then goOn: @escaping @Sendable ([HTTPCookie]) -> Void) {
        guard let request, let session = task.session, let cookies = cookies(for: request),
            cookies.mayBeSent(with: request), let place = request.url.flatMap({ CookiePlace($0) })
        else { return goOn([]) }
        if cookies.isPlain {
            let context = task.cookies.context(of: request, at: place)
            return goOn(cookies.storage.store.cookies(for: context).compactMap { HTTPCookie($0) })
        }
        let limit = session.settings.resourceDeadline(from: LoopClock.elapsed)
        guard let wait = task.driver.beginWait(for: .cookies, until: limit) else { return }
        cookies.storage.getCookiesFor(task.face) { found in
            if task.driver.endWait(wait) { goOn(found ?? []) }
        }
    }

    /// The owner has no storage of cookies: what is to be sent is part of the request (B8.57), which says whether that
    /// is the storage's.
    func request(_ request: URLRequest, with found: [HTTPCookie]) -> TransferRequest? {
        guard let cookies = cookies(for: request) else { return TransferRequest(request) }
        var request = request
        if let field = HTTPCookie.requestHeaderFields(with: found)["Cookie"] {
            request.setValue(field, forHTTPHeaderField: "Cookie")
        }
        var carried = TransferRequest(request)
        carried?.flags |= TransferRequest.followsCookies | TransferRequest.flag(of: cookies.policy)
        if found.allSatisfy({ $0.path == "/" }) { carried?.flags |= TransferRequest.cookiesFitEverywhere }
        return carried
    }

    /// The session's part in a request's cookies; nil where those are not its business.
    private func cookies(for request: URLRequest) -> SessionCookies? {
        guard let session = task.session, request.values.httpShouldHandleCookies,
            session.settings.socket(of: request) == nil, request.url != nil,
            request.values.fields.value("Cookie") == nil
        else { return nil }
        return session.settings.cookies
    }

    /// Cookies are taken of every response (B8.47): of the last when it comes, and of the others, and of what came
    /// while no program was there, with the end of the task. Never on a loop: a file of cookies may have to be read
    /// first.
    func takeCookies(of head: TransferHead) {
        receive(head.cookies(at: Date.timeIntervalSinceReferenceDate), of: head)
    }

    private func receive(_ read: [Cookie], of head: TransferHead) {
        guard !read.isEmpty, let cookies = task.session?.settings.cookies, let url = head.response?.url,
            let place = CookiePlace(url), cookies.policy != .never, let request = task.currentRequest,
            request.httpShouldHandleCookies, task.session?.settings.socket(of: request) == nil
        else { return }
        if cookies.isPlain {
            // Of the response's own place: after a redirect the task's request may be for another host.
            cookies.storage.receive(read, from: task.cookies.context(of: request, at: place), policy: cookies.policy)
        } else {
            // On the delegate queue: the storage is the program's own.
            let own = read.compactMap { HTTPCookie($0) }
            if !own.isEmpty { task.delivery.post(.ownersCookies(own, from: url)) }
        }
    }

    /// The cookies of responses that the program was not told of when they came. What it was told of later counts more,
    /// and is not taken once more: the program may have removed it since.
    func takeMissedCookies(of exchanges: [TransferExchange]) {
        let now = Date.timeIntervalSinceReferenceDate
        var known: Set<Cookie.Identity> = []
        var missed: [(cookies: [Cookie], head: TransferHead)] = []
        for exchange in exchanges.reversed() {
            guard let head = exchange.head else { continue }
            let came = exchange.times.responseStart.map {
                Double($0) / 1e6 - Date.timeIntervalBetween1970AndReferenceDate
            }
            let moment = min(came ?? now, now)
            let cookies = head.cookies(at: moment)
            if exchange.isTold {
                known.formUnion(cookies.map(\.identity))
                continue
            }
            var wanted: [Cookie] = []
            for cookie in cookies.reversed() where !known.contains(cookie.identity) {
                if cookie.isExpired(now), !cookie.isExpired(moment) {
                    // It has ended since, and what it had replaced does not come back. Removed is what had ended when
                    // it came.
                    known.insert(cookie.identity)
                } else {
                    wanted.append(cookie)
                }
            }
            missed.append((wanted.reversed(), head))
        }
        for (cookies, head) in missed.reversed() { receive(cookies, of: head) }
    }
}

extension TransferHead {
    /// The cookies that the response sets or removes, where it came at that moment.
    fileprivate func cookies(at moment: Double) -> [Cookie] {
        guard let answer = response as? HTTPURLResponse, let place = answer.url.flatMap({ CookiePlace($0) }) else {
            return []
        }
        return answer.arrivedFields.values(.setCookie).compactMap { SetCookie($0.utf8) }
            .map { Cookie($0, from: place, now: moment) }
    }
}
