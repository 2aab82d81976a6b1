// The API of URL, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Names the API of `URL.AsyncBytes`.
private func urlAsyncBytesMembers(of one: URL.AsyncBytes) {
    let _: any (AsyncSequence & Sendable).Type = URL.AsyncBytes.self
    let _: UInt8.Type = URL.AsyncBytes.Element.self
    let _: () -> URL.AsyncBytes.AsyncIterator = one.makeAsyncIterator
}

/// Names the API of `URL.AsyncBytes.AsyncIterator`.
private func urlAsyncBytesAsyncIteratorMembers(of one: URL.AsyncBytes.AsyncIterator) {
    let _: any AsyncIteratorProtocol.Type = URL.AsyncBytes.AsyncIterator.self
    let _: () async throws -> UInt8? = {
        var one = one; return try await one.next()
    }
}

/// Names the API of `URL`.
private func urlMembers() {
    let _: KeyPath<URL, URL.AsyncBytes> = \.resourceBytes
    let _: KeyPath<URL, AsyncLineSequence<URL.AsyncBytes>> = \.lines
}
