// The API of URLSessionUploadTask, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Overrides everything that is open in `URLSessionUploadTask` by what does the same.
class OverridingURLSessionUploadTask: URLSessionUploadTask, @unchecked Sendable {

}

/// Names the API of `URLSessionUploadTask`.
private func urlSessionUploadTaskMembers() {
    let _: any (Sendable & URLSessionDataTask).Type = URLSessionUploadTask.self
}

/// Names, as far as it is deprecated, the API of `URLSessionUploadTask`.
@available(*, deprecated)
private func urlSessionUploadTaskDeprecatedmembers() {
    let _: () -> URLSessionUploadTask = URLSessionUploadTask.init
}
