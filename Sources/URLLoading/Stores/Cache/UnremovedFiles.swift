// Which files of a cache had to go and could not be removed, so that they are not given out.
//
// Must not know: why a file had to go, directories.

import URLLoadingPolicy
import URLLoadingSystem

/// What had to go and is still there, as on a disk that cannot be written any more: this process does not give it
/// out. Others do, since there is nowhere to tell them.
struct UnremovedFiles: Sendable {
    private var names: Set<SipHash.Words> = []
    /// All that was stored up to this moment is hidden: there was too much of it to be named, or it could not be.
    private var moment = Int64.min

    mutating func add(_ name: SipHash.Words) {
        names.insert(name)
        if names.count > Self.remembered { addAll() }
    }

    mutating func addAll() {
        moment = Machine.wallMicroseconds
        names = []
    }

    /// A file is gone, or there is a new one of its name.
    mutating func drop(_ name: SipHash.Words) { names.remove(name) }

    func contains(_ name: SipHash.Words, storedAt: Int64) -> Bool { storedAt <= moment || names.contains(name) }

    private static let remembered = 8192
}
