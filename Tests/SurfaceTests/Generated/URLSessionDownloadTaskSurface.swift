// The API of URLSessionDownloadTask, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Overrides everything that is open in `URLSessionDownloadTask` by what does the same.
/// Safe to share: it has no state of its own.
class OverridingURLSessionDownloadTask: URLSessionDownloadTask, @unchecked Sendable {
    override func cancel(byProducingResumeData completionHandler: @escaping @Sendable (Data?) -> Void) {
        super.cancel(byProducingResumeData: completionHandler)
    }

    override func cancelByProducingResumeData() async -> Data? { await super.cancelByProducingResumeData() }
}

/// Names the API of `URLSessionDownloadTask`.
private func urlSessionDownloadTaskMembers(of one: URLSessionDownloadTask) {
    let _: any (Sendable & URLSessionTask).Type = URLSessionDownloadTask.self
    let _: (@escaping @Sendable (Data?) -> Void) -> Void = one.cancel(byProducingResumeData:)
    let _: () async -> Data? = one.cancelByProducingResumeData
}

/// Names, as far as it is deprecated, the API of `URLSessionDownloadTask`.
@available(*, deprecated)
private func urlSessionDownloadTaskDeprecatedmembers() {
    let _: () -> URLSessionDownloadTask = URLSessionDownloadTask.init
}
