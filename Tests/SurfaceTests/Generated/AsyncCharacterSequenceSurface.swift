// The API of AsyncCharacterSequence, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Names the API of `AsyncCharacterSequence`.
private func asyncCharacterSequenceMembers(of one: AsyncCharacterSequence<URLSession.AsyncBytes>) {
    let _: any AsyncSequence.Type = AsyncCharacterSequence<URLSession.AsyncBytes>.self
    let _: Character.Type = AsyncCharacterSequence<URLSession.AsyncBytes>.Element.self
    let _: () -> AsyncCharacterSequence<URLSession.AsyncBytes>.AsyncIterator = one.makeAsyncIterator
}

/// Names the API of `AsyncCharacterSequence.AsyncIterator`.
private func asyncCharacterSequenceAsyncIteratorMembers(
    of one: AsyncCharacterSequence<URLSession.AsyncBytes>.AsyncIterator
) {
    let _: any AsyncIteratorProtocol.Type = AsyncCharacterSequence<URLSession.AsyncBytes>.AsyncIterator.self
    let _: () async throws -> Character? = {
        var one = one; return try await one.next()
    }
}
