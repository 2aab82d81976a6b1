// The program: standard input into the driver, its answers to standard output. Driver protocol, section 1.

import Foundation
import URLLoadingTestSupport

/// Speaks the driver protocol, version 1.
@main
enum ConformanceDriver {
    static func main() {
        // A runner that closes its end is noticed by the failing write.
        signal(SIGPIPE, SIG_IGN)
        prepareDispatch()
        let driver = Driver(outbox: Outbox(descriptor: STDOUT_FILENO))
        var input = LineReader(descriptor: STDIN_FILENO)
        reading: while true {
            switch input.next() {
            case .bytes(let line): driver.carryOut(line)
            case .tooLong: driver.refuseLine("the line is too long", id: nil)
            case .end: break reading
            }
        }
        driver.end()
        // Whatever does not end by itself ends here.
        exit(EXIT_SUCCESS)
    }

    /// Dispatch opens descriptors of its own when its first thread and its first timer start, and ends the program
    /// where connections have left it none.
    private static func prepareDispatch() {
        let isReady = DispatchSemaphore(value: 0)
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) { isReady.signal() }
        isReady.wait()
    }
}
