// A command-line program as it was written with NSURLConnection: its main thread runs a run loop. For what the tests
// cannot show, whose main thread belongs to the test runner.
//
//     legacy flag URL    waits in a loop of its own for a flag
//     legacy run URL     runs the run loop and exits from a callback

import Foundation
import URLLoading
import URLLoadingLegacy

/// Something with a deprecated `run`. It is called through a protocol, since only deprecated code may
/// call what is deprecated.
protocol DeprecatedProgram {
    static func run(_ words: [String])
}

extension DeprecatedProgram {
    /// Runs it, from code that is not deprecated.
    static func start(_ words: [String]) { run(words) }
}

/// Loads a URL with `NSURLConnection`.
enum LegacyClient: DeprecatedProgram {
    @available(*, deprecated)
    static func run(_ words: [String]) {
        guard words.count == 2, let url = URL(string: words[1]) else { exit(64) }
        let fetcher = Fetcher(exits: words[0] == "run")
        let connection = NSURLConnection(request: URLRequest(url: url), delegate: fetcher)
        if words[0] == "run" { RunLoop.current.run() }
        while !fetcher.isOver, RunLoop.current.run(mode: .default, before: .distantFuture) {}
        withExtendedLifetime(connection) {}
    }
}

@available(*, deprecated)
final class Fetcher: NSObject, NSURLConnectionDataDelegate {
    private let exits: Bool
    private(set) var isOver = false

    init(exits: Bool) { self.exits = exits }

    func connection(_ connection: NSURLConnection, didReceive data: Data) {
        print(String(decoding: data, as: UTF8.self), Thread.isMainThread)
    }

    func connectionDidFinishLoading(_ connection: NSURLConnection) {
        isOver = true
        if exits { exit(0) }
    }

    func connection(_ connection: NSURLConnection, didFailWithError error: any Error) {
        print(error)
        exit(1)
    }
}
