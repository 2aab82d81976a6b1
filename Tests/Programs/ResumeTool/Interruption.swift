// What is done when a signal ends the tool in the middle: it takes with it what it has made, gigabytes perhaps.

import Dispatch
import Foundation

/// Cleans up when the process is asked to end, and then ends it.
final class Interruption {
    private let sources: [any DispatchSourceSignal]

    init(_ cleanUp: @escaping @Sendable () -> Void) {
        sources = [SIGTERM, SIGINT, SIGHUP].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler {
                cleanUp()
                _exit(128 + number)
            }
            source.activate()
            return source
        }
    }

    /// Nothing is left to be cleaned up.
    func end() {
        for source in sources { source.cancel() }
        for number in [SIGTERM, SIGINT, SIGHUP] { signal(number, SIG_DFL) }
    }
}
