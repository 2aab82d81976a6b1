// The API of URLSessionUploadTask, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Overrides everything that is open in `URLSessionUploadTask` by what does the same.
/// Safe to share: it has no state of its own.
class OverridingURLSessionUploadTask: URLSessionUploadTask, @unchecked Sendable {
    override func cancel(byProducingResumeData completionHandler: @escaping @Sendable (Data?) -> Void) {
        super.cancel(byProducingResumeData: completionHandler)
    }

    override func cancelByProducingResumeData() async -> Data? { await super.cancelByProducingResumeData() }
}

/// Names the API of `URLSessionUploadTask`.
private func urlSessionUploadTaskMembers(of one: URLSessionUploadTask) {
    let _: any (Sendable & URLSessionDataTask).Type = URLSessionUploadTask.self
    let _: (@escaping @Sendable (Data?) -> Void) -> Void = one.cancel(byProducingResumeData:)
    let _: () async -> Data? = one.cancelByProducingResumeData
}

/// Names, as far as it is deprecated, the API of `URLSessionUploadTask`.
@available(*, deprecated)
private func urlSessionUploadTaskDeprecatedmembers() {
    let _: () -> URLSessionUploadTask = URLSessionUploadTask.init
}
