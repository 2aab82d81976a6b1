// The API of FileHandle, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Names the API of `FileHandle.AsyncBytes`.
private func fileHandleAsyncBytesMembers(of one: FileHandle.AsyncBytes) {
    let _: any (AsyncSequence & Sendable).Type = FileHandle.AsyncBytes.self
    let _: UInt8.Type = FileHandle.AsyncBytes.Element.self
    let _: () -> FileHandle.AsyncBytes.AsyncIterator = one.makeAsyncIterator
}

/// Names the API of `FileHandle.AsyncBytes.AsyncIterator`.
private func fileHandleAsyncBytesAsyncIteratorMembers(of one: FileHandle.AsyncBytes.AsyncIterator) {
    let _: any AsyncIteratorProtocol.Type = FileHandle.AsyncBytes.AsyncIterator.self
    let _: () async throws -> UInt8? = {
        var one = one; return try await one.next()
    }
}

/// Names the API of `FileHandle`.
private func fileHandleMembers() {
    let _: KeyPath<FileHandle, FileHandle.AsyncBytes> = \.bytes
}
