// The cookies that a hop is sent with (behaviour 8.3). Each hop is asked about anew (B8.58).
//
// A plain storage is asked at once, on whichever thread the task is, unless its file has not been read: that may take its
// time, for which neither a loop nor the program's thread is the place. One that the program has made a subclass of is called
// like a delegate, never on the loop.

import Foundation
import URLLoadingPolicy
import URLLoadingSystem

extension HopPreparation {
    /// Finds a hop's cookies.
    func findCookies(with content: HopContent) -> Step? {
        // Order: the settings are not taken out as a whole, which would copy all of them for every request.
        guard let cookies = session.settings.cookies else { return .message(content, .none) }
        if let socket = session.settings.socket(of: request) {
            guard request.values.httpShouldHandleCookies else { return .message(content, .none) }
            return .message(content, stored(in: cookies.storage(behind: socket)))
        }
        guard cookies.mayBeSent(with: request) else { return .message(content, .none) }
        guard cookies.isPlain else { return ask(cookies.storage, content) }
        guard cookies.storage.store.isReady else { return read(cookies.storage, content) }
        return .message(content, stored(in: cookies.storage))
    }

    private func stored(in storage: HTTPCookieStorage) -> HopCookies {
        .stored(in: storage, isTopLevel: task.isMainDocument(request))
    }

    /// Has the file of cookies read before the first hop is built that asks for them. The task can be cancelled meanwhile.
    private func read(_ storage: HTTPCookieStorage, _ content: HopContent) -> Step? {
        guard let wait = task.beginWait(for: .cookies) else { return nil }
        let work = { @Sendable in
            storage.store.prepare()
            go(from: .message(content, stored(in: storage)), after: wait)
        }
        // Without a thread late is better than never.
        if !BlockingPool.files.run(work) { work() }
        return nil
    }

    /// The task can be cancelled meanwhile; of several answers the first counts.
    private func ask(_ storage: HTTPCookieStorage, _ content: HopContent) -> Step? {
        guard let wait = task.beginWait(for: .cookies) else { return nil }
        storage.getCookiesFor(task.face) { cookies in
            go(from: .message(content, .given(cookies ?? [])), after: wait)
        }
        return nil
    }
}
