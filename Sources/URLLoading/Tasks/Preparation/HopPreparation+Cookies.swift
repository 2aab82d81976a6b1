// The cookies that a hop is sent with (behaviour 8.3). Each hop is asked about anew (B8.58).
//
// A plain storage is asked at once, on whichever thread the task is, unless its file has not been read: that may take
// its time, for which neither a loop nor the program's thread is the place. One that the program has made a subclass of
// is called like a delegate, never on the loop.

import Foundation
import URLLoadingPolicy
import URLLoadingSystem

extension HopPreparation {
    /// Finds a hop's cookies.
    mutating func findCookies() -> Step? {
        let session = session
        guard let cookies = session.settings.cookies else { return .message }
        if let socket = session.settings.socket(of: request) {
            if request.values.httpShouldHandleCookies { hop.cookies = stored(in: cookies.storage(behind: socket)) }
            return .message
        }
        guard cookies.mayBeSent(with: request) else { return .message }
        guard cookies.isPlain else { return askStorage(cookies.storage) }
        guard cookies.storage.store.isReady else { return readFile(of: cookies.storage) }
        hop.cookies = stored(in: cookies.storage)
        return .message
    }

    private func stored(in storage: HTTPCookieStorage) -> HopCookies {
        .stored(in: storage, isTopLevel: task.cookies.isMainDocument(request))
    }

    /// Has the file of cookies read before the first hop is built that asks for them. The task
    /// can be cancelled meanwhile.
    private func readFile(of storage: HTTPCookieStorage) -> Step? {
        guard let wait = task.driver.beginWait(for: .cookies) else { return nil }
        let work = { @Sendable in
            storage.store.prepare()
            goOn(with: .message, after: wait) { $0.cookies = stored(in: storage) }
        }
        // Without a thread late is better than never.
        if !BlockingPool.files.run(work) { work() }
        return nil
    }

    /// The task can be cancelled meanwhile; of several answers the first counts.
    private func askStorage(_ storage: HTTPCookieStorage) -> Step? {
        guard let wait = task.driver.beginWait(for: .cookies) else { return nil }
        storage.getCookiesFor(task.face) { cookies in
            goOn(with: .message, after: wait) { $0.cookies = .given(cookies ?? []) }
        }
        return nil
    }
}
