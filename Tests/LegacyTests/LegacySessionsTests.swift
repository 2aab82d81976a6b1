// The sessions behind the older classes, when another cache is shared.

import Foundation
import Testing
import URLLoading
import URLLoadingTestSupport

@testable import URLLoadingLegacy

/// Asks for a session in its deinit, as a load does.
private final class PartingCache: URLCache, @unchecked Sendable {
    // Safe to share: written once, before it is shared.
    var gone: Signal?

    deinit {
        if LegacySessions.session(usesCredentialStorage: true).configuration.urlCache !== self { gone?.fire() }
    }
}

@Suite("Sessions of the older classes")
struct LegacySessionsTests {
    @Test("A cache that only these sessions hold may load by the older classes in its deinit, when another is shared")
    func cacheGoes() async {
        // In a process of its own: the other tests have a shared cache, too.
        await #expect(processExitsWith: .success) {
            func share(_ gone: Signal) {
                let cache = PartingCache(memoryCapacity: 1 << 20, diskCapacity: 0)
                cache.gone = gone
                URLCache.shared = cache
                _ = LegacySessions.session(usesCredentialStorage: true)
            }
            let gone = Signal()
            share(gone)
            URLCache.shared = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
            #expect(gone.count == 0)
            _ = LegacySessions.session(usesCredentialStorage: true)
            await gone.wait()
        }
    }
}
