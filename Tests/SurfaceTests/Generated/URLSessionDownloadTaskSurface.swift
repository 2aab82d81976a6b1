// The API of URLSessionDownloadTask, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Overrides everything that is open in `URLSessionDownloadTask` by what does the same.
class OverridingURLSessionDownloadTask: URLSessionDownloadTask, @unchecked Sendable {

}

/// Names the API of `URLSessionDownloadTask`.
private func urlSessionDownloadTaskMembers() {
    let _: any (Sendable & URLSessionTask).Type = URLSessionDownloadTask.self
}

/// Names, as far as it is deprecated, the API of `URLSessionDownloadTask`.
@available(*, deprecated)
private func urlSessionDownloadTaskDeprecatedmembers() {
    let _: () -> URLSessionDownloadTask = URLSessionDownloadTask.init
}
