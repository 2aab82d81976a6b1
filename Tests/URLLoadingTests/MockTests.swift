// Programs mock these classes in their own tests: they subclass them and override the methods that they use.

import Foundation
import Testing
import URLLoading
import URLLoadingTestSupport

@Suite("Mocks")
struct MockTests {
    final class MockTask: URLSessionDataTask, @unchecked Sendable {
        // Safe to share: immutable.
        private let work: @Sendable () -> Void

        @available(*, deprecated)
        init(_ work: @escaping @Sendable () -> Void) {
            self.work = work
            super.init()
        }

        override func resume() { work() }
        override var state: URLSessionTask.State { .running }
    }

    final class MockSession: URLSession, @unchecked Sendable {
        // Safe to share: a Guarded guards what is in it.
        let asked = Guarded<[URL]>([])

        override func dataTask(
            with url: URL, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
        ) -> URLSessionDataTask {
            asked.change { $0.append(url) }
            return (Self.self as any Maker.Type).make { completionHandler(Data("mocked".utf8), nil, nil) }
        }
    }

    /// Calls what is deprecated without a warning.
    protocol Maker {
        static func make(_ work: @escaping @Sendable () -> Void) -> URLSessionDataTask
    }

    @Test("A session's and a task's methods can be overridden")
    func overriding() async throws {
        let session = MockSession(configuration: .default)
        let url = try #require(URL(string: "https://example.com"))
        let data = await withHandover { continuation in
            session.dataTask(with: url) { data, _, _ in continuation.resume(returning: data) }.resume()
        }
        #expect(data == Data("mocked".utf8))
        #expect(session.asked.value == [url])
    }

    @Test("Objects that were made without a session have the values of new ones")
    @available(*, deprecated)
    func emptyObjects() {
        let task = URLSessionDataTask()
        #expect(task.state == .suspended)
        #expect(task.taskIdentifier == 0)
        #expect(task.originalRequest == nil && task.currentRequest == nil && task.response == nil)
        task.priority = .nan
        task.resume()
        task.cancel()
        #expect(task.state == .completed)
        #expect((task.error as? URLError)?.code == .cancelled)
        #expect(URLSession().configuration.timeoutIntervalForRequest == 60)
        #expect(URLSessionConfiguration().timeoutIntervalForRequest == 60)
    }

    @Test("A task object without a session that is cancelled for resume data has none to give")
    @available(*, deprecated)
    func resumeDataOfNothing() async {
        let upload = URLSessionUploadTask()
        #expect(
            await withHandover { handover in upload.cancel(byProducingResumeData: { handover.resume(returning: $0) }) }
                == nil)
        #expect(upload.state == .completed)
        let download = URLSessionDownloadTask()
        #expect(
            await withHandover { handover in download.cancel(byProducingResumeData: { handover.resume(returning: $0) })
            } == nil)
    }

    @Test("A method's default implementation that is called directly answers")
    @available(*, deprecated)
    func directCalls() async throws {
        let delegate = SilentDelegate()
        let url = try #require(URL(string: "https://example.com"))
        let task = URLSessionDataTask()
        let session = URLSession(configuration: .default)
        let disposition = await withHandover { continuation in
            delegate.urlSession(session, dataTask: task, didReceive: URLResponse()) {
                continuation.resume(returning: $0)
            }
        }
        #expect(disposition == .allow)
        let request = await withHandover { continuation in
            delegate.urlSession(
                session, task: task, willPerformHTTPRedirection: HTTPURLResponse(), newRequest: URLRequest(url: url)
            ) { continuation.resume(returning: $0) }
        }
        #expect(request?.url == url)
    }
}

extension MockTests.MockSession: MockTests.Maker {
    @available(*, deprecated)
    static func make(_ work: @escaping @Sendable () -> Void) -> URLSessionDataTask {
        MockTests.MockTask(work)
    }
}
