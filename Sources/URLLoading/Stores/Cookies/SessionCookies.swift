// What a session does with cookies: whose storage it asks, and under which policy it takes what answers bring.
//
// Must not know: how cookies are judged and kept, tasks.

import Foundation
import Synchronization
import URLLoadingPolicy
import URLLoadingWire

/// A session's part in cookies; a session without any has none of these (B8.43, B8.45).
struct SessionCookies: Sendable {
    let storage: HTTPCookieStorage
    /// Wins over the storage's own (B8.42).
    let policy: HTTPCookie.AcceptPolicy
    /// Whether the storage is asked as the value that it is, on any thread; a subclass is the program's code.
    let isPlain: Bool
    private let behindSockets = SocketCookies()

    init?(_ values: ConfigurationValues) {
        guard values.httpShouldSetCookies, let storage = values.httpCookieStorage else { return nil }
        self.storage = storage
        policy = values.httpCookieAcceptPolicy
        isPlain = storage.isPlain
    }

    /// Whether cookies can be part of a request: nothing else is asked of one where there are none.
    func mayBeSent(with request: URLRequest) -> Bool {
        (!isPlain || storage.store.mayHoldCookies) && request.values.httpShouldHandleCookies
    }

    /// The cookies of the server behind a socket: the session's alone, kept in memory.
    func storage(behind socket: String) -> HTTPCookieStorage { behindSockets.storage(socket) }

    /// Forgets the cookies of all sockets.
    func forgetSockets() { behindSockets.forgetAll() }
}

/// Storages by socket. A host's name says nothing about the server behind a socket, so that the host's own cookies are
/// not for that server, nor that server's for the host.
private final class SocketCookies: Sendable {
    private let storages = Mutex<[ExactText: HTTPCookieStorage]>([:])

    func storage(_ socket: String) -> HTTPCookieStorage {
        storages.withLock { storages in
            if let known = storages[ExactText(socket)] { return known }
            if storages.count == Self.most { storages = [:] }
            let new = HTTPCookieStorage()
            storages[ExactText(socket)] = new
            return new
        }
    }

    func forgetAll() {
        storages.withLock { $0 = [:] }
    }

    /// Picked by feel: more than a program talks to.
    private static let most = 64
}

/// Where the Cookie field of a hop comes from. A field that the program has set wins over it (B8.57).
enum HopCookies: Sendable {
    case none
    /// What the storage has for the request; `isTopLevel` where the main document itself is loaded.
    case stored(in: HTTPCookieStorage, isTopLevel: Bool)
    /// What a subclass has answered.
    case given([HTTPCookie])

    /// The field's value.
    func field(for request: URLRequest, to origin: Origin, target: String) -> String? {
        switch self {
        case .none: return nil
        case .given(let cookies): return HTTPCookie.requestHeaderFields(with: cookies)["Cookie"]
        case .stored(let storage, let isTopLevel):
            let context = CookieContext(
                CookiePlace(origin: origin, target: target), mainDocument: request.values.mainDocumentURL,
                isTopLevel: isTopLevel, method: request.values.method)
            return storage.store.field(for: context)
        }
    }
}
