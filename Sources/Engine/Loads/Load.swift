// What an engine loads, on its loop: a closed list, so that code that knows the kind calls it directly, and what all
// kinds have in common.
//
// Must not know: what the load is for.

import URLLoadingPolicy

/// Names a load within its engine. A transaction's is the number of its request in the pool.
package typealias LoadID = RequestID

/// Something that is being loaded.
enum Load {
    case transaction(Transaction)
    case stream(StreamTransfer)
    case ftp(FTPTransfer)
    case webSocket(WebSocketTransfer)

    /// Whatever it is.
    var steered: any SteeredLoad {
        switch self {
        case .transaction(let transaction): transaction
        case .stream(let transfer): transfer
        case .ftp(let transfer): transfer
        case .webSocket(let transfer): transfer
        }
    }
}

/// A load, as far as it is steered from outside.
protocol SteeredLoad: AnyObject {
    /// Ends with a cancellation, unless it has ended.
    func cancel()
    /// The receiver can take more.
    func resumeReading()
    /// The receiver can take more, but waits only briefly for the end.
    func resumeReadingBriefly()
    /// Nothing more of a response is wanted.
    func discardRest()
    /// Stops both directions and the idle time (B1.39, B1.40); nests.
    func suspend()
    /// Undoes one suspension.
    func resume()
    /// Changes the place in a queue.
    func setPriority(_ priority: Float)
    /// An answer to a question about its own connection has come, perhaps too late.
    func answered(_ number: Int, _ answer: QuestionAnswer)
    /// The delegate that was asked about its own connection has no method for the question, and the session decides.
    func leftToSession(_ number: Int)
}

extension SteeredLoad {
    /// Nothing waits for it: what comes is asked for piece by piece.
    func resumeReading() {}

    /// It has no rest that something else waits for.
    func resumeReadingBriefly() { resumeReading() }

    /// There is no response.
    func discardRest() {}

    /// It waits in no queue.
    func setPriority(_ priority: Float) {}

    /// It has no connection of its own that is being opened.
    func answered(_ number: Int, _ answer: QuestionAnswer) {}

    /// It asks no question about a connection.
    func leftToSession(_ number: Int) {}
}
