// A session for a program's own tests: it notes what is asked for and answers from memory.

import Foundation
import URLLoading

/// Answers every request with the same bytes.
public class RecordingSession: URLSession, @unchecked Sendable {
    // Touched by one thread only, that of the test, as is usual in such code.

    /// What was asked for.
    public var requests: [URLRequest] = []
    /// What every handler gets.
    public var answer = Data()

    /// Answers at once, and gives a task that is never started.
    public override func dataTask(
        with request: URLRequest, completionHandler: @escaping (Data?, URLResponse?, Error?) -> Void
    ) -> URLSessionDataTask {
        requests.append(request)
        completionHandler(answer, URLResponse(), nil)
        return super.dataTask(with: request)
    }
}
