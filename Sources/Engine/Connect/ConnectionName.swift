// What a connection is known by while it is being opened.

import URLLoadingPolicy

/// Names a connection from its dial on.
package enum ConnectionName: Hashable, Sendable {
    /// One of the pool's, by its number there.
    case pooled(ConnectionID)
    /// One outside the pool, by the load that it is for.
    case load(LoadID)
}
