// What carries a hop other than an HTTP transaction, and the table of those that are built in.
//
// A carrier brings what a request asks for and reports it to its `SchemeLoad`; it must not know tasks, delegates and
// where the bytes go. A new scheme is one line in the table and one file.

import Foundation
import URLLoadingEngine

/// Brings what one hop asks for.
protocol SchemeCarrier: AnyObject, Sendable {
    /// Begins: called once and first, on any thread, a loop's too, so it must not wait for anything. What comes is
    /// reported to `load`, from any thread, one report after the other.
    func start(_ request: URLRequest, _ load: SchemeLoad)

    /// More can be taken: the answer to `ReceiverDemand.pause`. Never before `start` has returned.
    func resumeReading()

    /// The task is suspended: nothing is sent until `resume()`, and no time runs. What comes all the same is kept.
    /// Never before `start` has returned, and in turns with `resume()`.
    func suspend()

    /// Undoes `suspend()`.
    func resume()

    /// Nothing more is wanted, or all was told: called at most once, never before `start` has returned, and not at all
    /// where that was not called. Reports that come later are ignored.
    func stop()

    /// The task has another priority.
    func setPriority(_ priority: Float)
}

extension SchemeCarrier {
    /// Does nothing: what cannot wait is kept by the load.
    func resumeReading() {}

    /// Does nothing: what only brings something is stopped by `ReceiverDemand.pause`.
    func suspend() {}

    /// Does nothing.
    func resume() {}

    /// Does nothing.
    func setPriority(_ priority: Float) {}
}

/// A scheme that is built in beside http and https.
struct BuiltInScheme: Sendable {
    /// In lower case.
    let name: String
    /// Whether the content lies somewhere outside of the request, so that a cache policy can forbid to go there.
    let hasSource: Bool
    /// Whether upload tasks know it (B14.12, B14.25).
    let takesUploads: Bool
    let source: Source

    /// What makes the carriers of the scheme.
    enum Source: Sendable {
        case carrier(@Sendable () -> any SchemeCarrier)
        /// FTP, whose carriers are made for one place and one way to it.
        case ftp
    }

    /// Whether a download can be gone on with.
    var canBeginInside: Bool {
        switch source {
        case .ftp: true
        case .carrier: false
        }
    }

    /// All of them (B14.1).
    static let all = [
        BuiltInScheme(name: "file", hasSource: true, takesUploads: false, source: .carrier { FileCarrier() }),
        BuiltInScheme(name: "data", hasSource: false, takesUploads: false, source: .carrier { DataCarrier() }),
        BuiltInScheme(name: "about", hasSource: false, takesUploads: false, source: .carrier { AboutCarrier() }),
        BuiltInScheme(name: "ftp", hasSource: true, takesUploads: true, source: .ftp),
        BuiltInScheme(name: "ftps", hasSource: true, takesUploads: true, source: .ftp),
    ]

    /// The one of that name, in any case (B14.3).
    static func named(_ name: String) -> BuiltInScheme? {
        let name = name.lowercased()
        return all.first { $0.name == name }
    }
}
