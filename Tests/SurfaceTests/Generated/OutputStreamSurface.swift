// The API of OutputStream, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Names the API of `OutputStream`.
private func outputStreamMembers(of one: OutputStream) {
    let _: (UnsafeRawPointer, Int) -> Int = one.write(_:maxLength:)
}
