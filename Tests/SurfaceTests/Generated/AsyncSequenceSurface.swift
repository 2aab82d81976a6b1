// The API of AsyncSequence, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Names the API of `AsyncSequence`.
private func asyncSequenceMembers() {
    let _: KeyPath<URLSession.AsyncBytes, AsyncLineSequence<URLSession.AsyncBytes>> = \.lines
    let _: KeyPath<URLSession.AsyncBytes, AsyncCharacterSequence<URLSession.AsyncBytes>> = \.characters
    let _: KeyPath<URLSession.AsyncBytes, AsyncUnicodeScalarSequence<URLSession.AsyncBytes>> = \.unicodeScalars
}
