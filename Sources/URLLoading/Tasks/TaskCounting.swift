// What of a task is counted and shown while it loads: its response, the bytes that have come and gone, its progress,
// and how far it is for an iteration over its events.
//
// Must not know: what becomes of the bytes.

import Foundation
import Synchronization
import URLLoadingEngine
import URLLoadingSystem

/// A task as something whose progress is followed.
struct TaskCounting: Sendable {
    let task: TaskCore

    // MARK: What has come and gone

    /// The response that the task will show (B1.49).
    func responseArrived(_ response: URLResponse, hasBody: Bool) {
        task.counters.expectedToReceive.store(hasBody ? response.expectedContentLength : 0, ordering: .relaxed)
        task.state.letGo { exchange(&$0.response, with: response) }
        updateProgress()
    }

    /// The next hop may have another body than the one before, since a delegate may have changed the request (B11.11).
    /// A hop without a body leaves what is counted: it stands beside what was sent.
    func willSend(_ body: TaskBody, of request: URLRequest) {
        guard case .request = body, case let length = body.expectedLength(of: request), length != 0 else { return }
        task.counters.expectedToSend.store(length, ordering: .relaxed)
    }

    func bodyArrived(bytes: Int) {
        task.counters.received.wrappingAdd(Int64(bytes), ordering: .relaxed)
        updateProgress()
    }

    /// So many bytes of the request's body have been sent, behind those that an upload which goes on had sent before;
    /// none where the body is sent once more.
    func bodySent(_ bytes: Int64, behind base: Int64 = 0, tellsDelegate: Bool, on reactor: Reactor) {
        let total = base + bytes
        task.counters.sent.store(total, ordering: .relaxed)
        updateProgress()
        if tellsDelegate { task.delivery.post(bytes > 0 ? .sent(total) : .sendsAgain, on: reactor) }
        announceProgress()
    }

    /// Bytes of a connection that has no messages have come and gone.
    func moved(received: Int, sent: Int) {
        if received > 0 { task.counters.received.wrappingAdd(Int64(received), ordering: .relaxed) }
        if sent > 0 { task.counters.sent.wrappingAdd(Int64(sent), ordering: .relaxed) }
        updateProgress()
    }

    // MARK: Progress

    /// Made when it is first asked for; steers the task (B1.52).
    var progress: Progress {
        let made = task.state.withLock { $0.progress }
        if let made { return made.shown }
        let new = TaskProgress(of: task)
        let progress = task.state.withLock { state in
            if let made = state.progress { return made }
            state.progress = new
            return new
        }
        task.hasProgress.store(true, ordering: .releasing)
        updateProgress()
        return progress.shown
    }

    /// Carries the counters over into the progress, if that was asked for; from any thread.
    func updateProgress() {
        guard task.hasProgress.load(ordering: .acquiring) else { return }
        guard let progress = task.state.withLock({ $0.progress }) else { return }
        progress.follow { (task.counters.units, task.state.withLock { $0.progressStage }) }
    }

    /// Adds how far the transfer has come to the sequence of its events.
    func announceProgress() {
        task.telling.announce {
            .progress(
                URLSession.TransferProgress(
                    bytesSent: task.counters.sent.load(ordering: .relaxed),
                    bytesExpectedToSend: task.counters.expectedToSend.load(ordering: .relaxed),
                    bytesReceived: task.counters.received.load(ordering: .relaxed),
                    bytesExpectedToReceive: task.counters.expectedToReceive.load(ordering: .relaxed)))
        }
    }
}

extension TaskCore {
    /// What is counted of the task.
    var counting: TaskCounting { TaskCounting(task: self) }
}
