// The tasks of a session, by kind.

import Foundation
import Testing
import URLLoading
import URLLoadingTestSupport

@Suite("Tasks by kind")
struct TaskListTests {
    @Test("B1.57, B1.58: tasks that have not ended are listed by kind, upload tasks only as such")
    func kinds() async throws {
        let session = URLSession(configuration: .ephemeral)
        let url = try #require(URL(string: "http://example.invalid/"))
        let data = session.dataTask(with: url)
        let upload = session.uploadTask(with: URLRequest(url: url), from: Data("body".utf8))
        let download = session.downloadTask(with: url)
        let listed = await session.tasks
        #expect(listed.0 == [data])
        #expect(listed.1 == [upload])
        #expect(listed.2 == [download])
        session.invalidateAndCancel()
        let counts = await withHandover { continuation in
            session.getTasksWithCompletionHandler { continuation.resume(returning: [$0.count, $1.count, $2.count]) }
        }
        #expect(counts == [0, 0, 0])
    }
}
