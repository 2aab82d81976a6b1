// The API of AsyncLineSequence, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Names the API of `AsyncLineSequence`.
private func asyncLineSequenceMembers(of one: AsyncLineSequence<URLSession.AsyncBytes>) {
    let _: any AsyncSequence.Type = AsyncLineSequence<URLSession.AsyncBytes>.self
    let _: String.Type = AsyncLineSequence<URLSession.AsyncBytes>.Element.self
    let _: () -> AsyncLineSequence<URLSession.AsyncBytes>.AsyncIterator = one.makeAsyncIterator
}

/// Names the API of `AsyncLineSequence.AsyncIterator`.
private func asyncLineSequenceAsyncIteratorMembers(of one: AsyncLineSequence<URLSession.AsyncBytes>.AsyncIterator) {
    let _: any AsyncIteratorProtocol.Type = AsyncLineSequence<URLSession.AsyncBytes>.AsyncIterator.self
    let _: () async throws -> String? = {
        var one = one; return try await one.next()
    }
}
