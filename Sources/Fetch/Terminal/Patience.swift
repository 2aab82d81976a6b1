// How long this command waits for the reader of what it writes. A reader that has stopped may never go on: the user's
// signal, and the time that an attempt has, end the wait.

import Foundation

/// The time that a reader has.
struct Patience: Sendable {
    /// The moment at which it ends; nil where the user alone ends it.
    var end: ContinuousClock.Instant?

    /// The longest wait between two looks at whether it is over, in milliseconds.
    static let pace: Int32 = 50

    /// Why nothing is waited for any more, as the number of an error; 0 while there is patience.
    var error: Int32 {
        if Interruption.hasCome { return ECANCELED }
        guard let end, end <= .now else { return 0 }
        return ETIMEDOUT
    }
}

extension Options {
    /// What an attempt has that begins now.
    var attemptPatience: Patience { Patience(end: maximumTime.map { .now + .seconds($0) }) }
}
