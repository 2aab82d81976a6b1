// What goes into the sequence of `events(for:)`, past the delegate queue.

import URLLoadingEngine

extension TaskCore {
    /// Adds an event to the sequence, where there is one and it is of everything.
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
