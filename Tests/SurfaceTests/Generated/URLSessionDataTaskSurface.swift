// The API of URLSessionDataTask, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Overrides everything that is open in `URLSessionDataTask` by what does the same.
/// Safe to share: it has no state of its own.
class OverridingURLSessionDataTask: URLSessionDataTask, @unchecked Sendable {

}

/// Names the API of `URLSessionDataTask`.
private func urlSessionDataTaskMembers() {
    let _: any (Sendable & URLSessionTask).Type = URLSessionDataTask.self
}

/// Names, as far as it is deprecated, the API of `URLSessionDataTask`.
@available(*, deprecated)
private func urlSessionDataTaskDeprecatedmembers() {
    let _: () -> URLSessionDataTask = URLSessionDataTask.init
}
