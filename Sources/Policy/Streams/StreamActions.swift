// What `StreamMachine` tells its driver to do. Values.

/// Names one read or write of a stream; chosen by the caller, never twice.
package typealias StreamCall = Int

/// One thing to do, in the order given.
package enum StreamAction: Sendable, Equatable {
    /// A read is answered with so many of the bytes that wait; nothing more will come if they are the last.
    case deliver(StreamCall, count: Int, isAtEnd: Bool)
    /// The bytes of a write are to be sent from their beginning.
    case send(StreamCall)
    /// A write is answered: the system has its bytes.
    case written(StreamCall)
    /// A call is answered with a failure; nothing more of it is sent.
    case failed(StreamCall, StreamFault)
    /// The bytes that wait are of no interest any more.
    case discardInput
    /// Our direction is to be finished.
    case finishWriting
    /// It is told that no more will be read.
    case readClosed
    /// It is told that no more will be written.
    case writeClosed
    /// TLS is to be set up, unless something has come meanwhile.
    case startTLS
    /// The connection and the bytes that wait are handed over, and nothing more is told. One that has failed has ended.
    case handOver(isReadClosed: Bool, isWriteClosed: Bool, hasEnded: Bool)
    /// The end: the connection is to be closed.
    case ended(StreamFault?)
}

/// Why a call of a stream, or all of it, failed.
package enum StreamFault: Error, Sendable, Equatable {
    /// The call was not done in its time (B15.41).
    case timedOut
    /// The task was not done in its time (B15.53).
    case tookTooLong
    /// It came behind the end of reading.
    case readingClosed
    /// It came behind the end of writing.
    case writingClosed
    /// It came behind the hand-over of the connection.
    case captured
    /// Something was received that was not protected, where only what is protected counts (B15.46).
    case plaintextBeforeTLS
    /// One direction was over before TLS could be set up.
    case closedBeforeTLS
    /// The task was cancelled (B15.44).
    case cancelled
    /// The connection could not be opened, or failed; the driver knows why.
    case lost
}
