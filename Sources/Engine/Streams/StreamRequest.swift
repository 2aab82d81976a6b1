// One stream as the engine takes it, and what is told of it: values, and the seam to its receiver.
//
// Must not know: tasks, delegates, Foundation.

import URLLoadingPolicy
import URLLoadingSystem

/// Everything the engine needs to open a stream.
package struct StreamRequest: Sendable {
    /// Where it leads; of the scheme nothing is used, for TLS comes when it is asked for.
    package var origin: Origin
    /// How it gets there: by the first way that leads anywhere.
    package var routes: [Route]
    /// Whose judgement its connection stands by.
    package var judge = ConnectionJudge.session
    /// Whether it waits for the network instead of failing when there is no way to the host (B6.15); its calls' own
    /// time runs on.
    package var waitsForConnectivity = false
    /// When all must have ended (B15.53), as `LoopClock` counts time; nil for never.
    package var resourceDeadline: Duration?
    /// Makes the receiver, once, on the loop: what it holds is confined there and needs no lock.
    package var makeReceiver: @Sendable (StreamHandle, Reactor) -> any StreamReceiver

    /// Makes a request from its parts.
    package init(
        origin: Origin, routes: [Route] = [.direct()], resourceDeadline: Duration? = nil,
        makeReceiver: @escaping @Sendable (StreamHandle, Reactor) -> any StreamReceiver
    ) {
        self.origin = origin
        self.routes = routes
        self.resourceDeadline = resourceDeadline
        self.makeReceiver = makeReceiver
    }
}

/// Takes in what becomes of one stream. Every call comes on the loop's thread.
package protocol StreamReceiver: AnyObject {
    /// How the stream begins, asked once.
    var beginning: LoadBeginning { get }

    /// Whether `asked` gets an answer. If not, the engine's own evaluator and identity are applied.
    var answersQuestions: Bool { get }

    /// The connection, or TLS on it, waits for an answer, which may come at any time from any thread.
    func asked(_ question: ConnectionQuestion)

    /// There is no way to the host, and the stream waits for one (B6.16); comes again when a change of the network did
    /// not help.
    func waitsForConnectivity()

    /// So many bytes have come and gone since the last call.
    func moved(received: Int, sent: Int)

    /// Nothing more will be read (B15.49, B15.50).
    func readClosed()

    /// Nothing more will be written (B15.48).
    func writeClosed()

    /// The connection is the receiver's from now on (B15.51); nothing else comes any more.
    func captured(_ connection: CapturedConnection)

    /// The end: once, and last.
    func finished(_ failure: StreamFailure?)
}

/// What came of a read.
package struct StreamPiece: Sendable {
    /// The bytes.
    package let bytes: [UInt8]
    /// Whether no more will come (B15.40).
    package let isAtEnd: Bool

    /// What a read gives.
    package init(bytes: [UInt8], isAtEnd: Bool) {
        self.bytes = bytes
        self.isAtEnd = isAtEnd
    }
}

/// Why a call, or the stream, failed.
package enum StreamFailure: Error, Sendable {
    /// By the rules of streams.
    case fault(StreamFault)
    /// By what happened to the connection.
    case engine(EngineError)
    /// By an error that the caller had found before.
    case known(any Error)
}
