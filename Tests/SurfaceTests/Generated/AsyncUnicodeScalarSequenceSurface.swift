// The API of AsyncUnicodeScalarSequence, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Names the API of `AsyncUnicodeScalarSequence`.
private func asyncUnicodeScalarSequenceMembers(of one: AsyncUnicodeScalarSequence<URLSession.AsyncBytes>) {
    let _: any AsyncSequence.Type = AsyncUnicodeScalarSequence<URLSession.AsyncBytes>.self
    let _: Unicode.Scalar.Type = AsyncUnicodeScalarSequence<URLSession.AsyncBytes>.Element.self
    let _: () -> AsyncUnicodeScalarSequence<URLSession.AsyncBytes>.AsyncIterator = one.makeAsyncIterator
}

/// Names the API of `AsyncUnicodeScalarSequence.AsyncIterator`.
private func asyncUnicodeScalarSequenceAsyncIteratorMembers(
    of one: AsyncUnicodeScalarSequence<URLSession.AsyncBytes>.AsyncIterator
) {
    let _: any AsyncIteratorProtocol.Type = AsyncUnicodeScalarSequence<URLSession.AsyncBytes>.AsyncIterator.self
    let _: () async throws -> Unicode.Scalar? = {
        var one = one; return try await one.next()
    }
}
