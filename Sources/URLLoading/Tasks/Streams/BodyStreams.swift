// The streams of a task's body, and what becomes of those that are still unopened when it ends: the writer of a bound
// pair waits for a reader, and would wait for ever.
//
// Must not know: who reads a stream, and how.

import Foundation
import Synchronization

/// The streams that were there for one task's body.
struct BodyStreams: Sendable {
    /// The request's own, once it has been given to the engine; only compared.
    var used: ObjectIdentifier?
    /// What the engine was given last for the whole body: the request's own, or one that a delegate has supplied.
    var given: InputStreamSource?
    /// Those that delegates have supplied.
    var supplied: [InputStreamSource] = []
}

extension TaskCompletion {
    /// B5.35: the last that the task does with its body. Most tasks have none, and pass by.
    func closeUnopenedStreams(failed: Bool) {
        guard failed || task.isUpload || task.counters.expectedToSend.load(ordering: .relaxed) != 0 else { return }
        let (requests, streams) = task.state.withLock { state in
            defer { state.dropBodyStreams() }
            return ([state.originalRequest, state.firstRequest, state.currentRequest], state.bodyStreams)
        }
        for request in requests { request?.values.closeUnopenedPair() }
        streams.given?.values.closeUnopenedPair()
        for source in streams.supplied { source.values.closeUnopenedPair() }
    }
}

extension RequestValues {
    /// Closes the reading end of a pair that is the body, if it was not opened. Other streams
    /// have no writer that waits.
    func closeUnopenedPair() {
        guard let pair = httpBodyStream as? BoundInputStream, pair.streamStatus == .notOpen else { return }
        pair.close()
    }
}

extension TaskAnswer {
    /// The answer comes too late to be used.
    func closeStream() {
        if case .stream(let source) = self { source?.values.closeUnopenedPair() }
    }
}
