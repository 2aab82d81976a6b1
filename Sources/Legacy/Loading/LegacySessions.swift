// The sessions behind connections and downloads: two for the process, one that looks credentials up and one that does
// not, so that connections are used again from load to load as Apple's older classes do.
//
// They use the shared storages, and the classes that are registered with `URLProtocol`. A program that sets another
// `URLCache.shared`, or registers a class, gets new ones: both are settled when a session is made.

import Foundation
import Synchronization
import URLLoading

/// Finds the session for a load.
enum LegacySessions {
    private struct Pair {
        let cache: URLCache
        let classes: [ObjectIdentifier]
        let storing: URLSession
        let forgetting: URLSession
    }

    private static let made = Mutex<Pair?>(nil)

    /// The session of a load that may, or must not, use the credential storage.
    static func session(usesCredentialStorage: Bool) -> URLSession {
        let pair = current(with: URLCache.shared, URLSessionConfiguration.default)
        return usesCredentialStorage ? pair.storing : pair.forgetting
    }

    private static func current(with cache: URLCache, _ configuration: URLSessionConfiguration) -> Pair {
        let classes = (configuration.protocolClasses ?? []).map { ObjectIdentifier($0) }
        func isRight(_ pair: Pair) -> Bool { pair.cache === cache && pair.classes == classes }
        if let pair = made.withLock({ $0 }), isRight(pair) { return pair }
        // Order: made outside the lock; those of a thread that comes second go unused. Older
        // sessions end with their tasks.
        let new = Pair(
            cache: cache, classes: classes, storing: session(configuration, cache, .shared),
            forgetting: session(configuration, cache, nil))
        // And those of before go when the lock is free, since their cache may load in its deinit.
        let (pair, gone) = made.withLock { made -> (Pair, Pair?) in
            if let made, isRight(made) { return (made, nil) }
            defer { made = new }
            return (new, made)
        }
        withExtendedLifetime(gone) {}
        return pair
    }

    private static func session(
        _ configuration: URLSessionConfiguration, _ cache: URLCache, _ credentials: URLCredentialStorage?
    ) -> URLSession {
        // A session takes a copy.
        configuration.urlCache = cache
        configuration.urlCredentialStorage = credentials
        // B2.109: the session is the process's, and a load that wants no storage wants no memory of others.
        configuration.keepsProofsApart = credentials == nil
        // The older classes know the request's time-out only.
        configuration.timeoutIntervalForResource = 0
        return URLSession(configuration: configuration)
    }
}
