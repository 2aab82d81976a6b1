// The counts of a transfer's bytes that another process gives, in a message or a journal, may be any numbers.

import Foundation
import Testing
import URLLoadingTestSupport

@testable import URLLoading

@Suite("Counts from another process", .timeLimit(.minutes(5)))
struct ForeignCountsTests {
    private final class Recorder: NSObject, URLSessionDownloadDelegate {
        let steps = Guarded<[Int64]>([])

        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
            totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
        ) {
            steps.withLock { $0.append(bytesWritten) }
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
            totalBytesExpectedToSend: Int64
        ) {
            steps.withLock { $0.append(bytesSent) }
        }

        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
        ) {}
    }

    @Test(
        "B9.8, B10.30: progress never goes backwards and stops nothing, whatever count another process has given",
        arguments: [.min, -1, 0, 5, .max] as [Int64])
    func progress(before: Int64) throws {
        let recorder = Recorder()
        let session = URLSession(configuration: .default, delegate: recorder, delegateQueue: nil)
        let task = session.downloadTask(with: try #require(URL(string: "http://h.example/")))
        for total in [Int64.min, -1, 1, .max] {
            task.core.state.withLock { ($0.writtenTold, $0.sentTold) = (before, before) }
            task.core.download.tellWritten(total)
            task.core.telling.tellSent(total)
        }
        // Of a total that is nothing there is nothing to tell.
        let steps = recorder.steps.withLock { $0 }
        #expect(steps.count == 4)
        #expect(steps.allSatisfy { $0 >= 0 })
        #expect(steps.last == (before == .max ? 0 : .max - max(before, 0)))
        session.invalidateAndCancel()
    }
}
