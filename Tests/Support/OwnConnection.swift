// A connection of a test's own listener that is closed in the children of other tests from its first moment on: in a
// child it would live on after its end here.

import URLLoadingSystem

package enum OwnConnection {
    /// Waits for the next connection of a listener that blocks, and answers its descriptor, which blocks too; nil once
    /// the listener is shut down.
    package static func accept(from listener: Int32) -> Int32? {
        while true {
            let descriptor = urlloading_accept(listener, nil, nil)
            if descriptor >= 0 {
                _ = fcntl(descriptor, F_SETFL, 0)
                return descriptor
            }
            guard errno == EINTR || errno == ECONNABORTED else { return nil }
        }
    }
}
