// Cookies of tasks of background sessions: those that go with a request when it is handed over, and those that came
// with responses, when the program was there and when it was not (B8.47, B8.57).
//
// Must not know: which process the owner is.

import Foundation
import URLLoadingPolicy

extension TaskTransfer {
    /// The owner has no storage of cookies: what is to be sent is part of the request (B8.57), which says whether that
    /// is the storage's.
    func withCookies(_ request: URLRequest) -> TransferRequest? {
        guard let session = task.session, let cookies = session.settings.cookies,
            request.values.httpShouldHandleCookies, session.settings.socket(of: request) == nil,
            let url = request.url, request.values.fields.value("Cookie") == nil
        else { return TransferRequest(request) }
        let found = cookies.mayBeSent(with: request) ? stored(in: cookies.storage, for: request, to: url) : []
        var request = request
        if let field = HTTPCookie.requestHeaderFields(with: found)["Cookie"] {
            request.setValue(field, forHTTPHeaderField: "Cookie")
        }
        var carried = TransferRequest(request)
        carried?.flags |= TransferRequest.followsCookies | TransferRequest.flag(of: cookies.policy)
        if found.allSatisfy({ $0.path == "/" }) { carried?.flags |= TransferRequest.cookiesFitEverywhere }
        return carried
    }

    private func stored(in storage: HTTPCookieStorage, for request: URLRequest, to url: URL) -> [HTTPCookie] {
        guard let place = CookiePlace(url) else { return [] }
        let context = task.cookies.context(of: request, at: place)
        // B8.59: that the request may be for another site's main document, a URL does not say.
        return (storage.cookies(for: url) ?? []).filter { storage.store.isSent($0.cookie, with: context) }
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
