// A delegate queue that calls nothing until the test lets it.

import Foundation

extension OperationQueue {
    /// A serial queue that is suspended.
    static func held() -> OperationQueue {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.isSuspended = true
        return queue
    }
}
