// What goes to whoever iterates over everything that a task does, past the delegate queue.

import URLLoadingEngine

extension TaskCore {
    /// Adds an event to the sequence of one who wants everything.
    func announce(_ event: () -> URLSession.TransferEvent?) {
        guard let pipe = outlet.pipe, pipe.scope == .everything, let event = event() else { return }
        pipe.post(event)
    }

    /// Adds how far the transfer has come.
    func announceProgress() {
        announce {
            .progress(
                URLSession.TransferProgress(
                    bytesSent: counters.sent.load(ordering: .relaxed),
                    bytesExpectedToSend: counters.expectedToSend.load(ordering: .relaxed),
                    bytesReceived: counters.received.load(ordering: .relaxed),
                    bytesExpectedToReceive: counters.expectedToReceive.load(ordering: .relaxed)))
        }
    }
}
