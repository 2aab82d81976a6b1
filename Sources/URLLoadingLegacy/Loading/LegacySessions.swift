// The sessions behind connections and downloads: two for the process, one that looks credentials up and one that does
// not, so that connections are used again from load to load as Apple's older classes do.
//
// They use the shared storages. A program that sets another `URLCache.shared` gets new ones: the cache of a session is
// settled when it is made.

import Foundation
import Synchronization
import URLLoading

/// Finds the session for a load.
enum LegacySessions {
    private struct Pair {
        let cache: URLCache
        let storing: URLSession
        let forgetting: URLSession
    }

    private static let made = Mutex<Pair?>(nil)

    /// The session of a load that may, or must not, use the credential storage.
    static func session(usesCredentialStorage: Bool) -> URLSession {
        let cache = URLCache.shared
        let pair = current(with: cache)
        return usesCredentialStorage ? pair.storing : pair.forgetting
    }

    private static func current(with cache: URLCache) -> Pair {
        if let pair = made.withLock({ $0 }), pair.cache === cache { return pair }
        // Order: made outside the lock; those of a thread that comes second go unused. Older sessions end with their tasks.
        let new = Pair(cache: cache, storing: session(cache, .shared), forgetting: session(cache, nil))
        return made.withLock { made in
            if let made, made.cache === cache { return made }
            made = new
            return new
        }
    }

    private static func session(_ cache: URLCache, _ credentials: URLCredentialStorage?) -> URLSession {
        let configuration = URLSessionConfiguration.default
        configuration.urlCache = cache
        configuration.urlCredentialStorage = credentials
        // The older classes know the request's time-out only.
        configuration.timeoutIntervalForResource = 0
        return URLSession(configuration: configuration)
    }
}
