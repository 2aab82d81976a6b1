// The API of Stream, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Names the API of `Stream`.
private func streamMembers() {
    let _: (Int, inout InputStream?, inout OutputStream?) -> Void = Stream.getBoundStreams(
        withBufferSize:inputStream:outputStream:)
}
