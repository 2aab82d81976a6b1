// What a download knows about being taken up again, as a part of its task's state and behind the same lock. The file
// operations that follow are `TaskDownload`'s.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem

/// How far a download has come, and what of it can be kept.
struct DownloadProgress: Sendable {
    /// What the task was made from, as long as it is right.
    var source: ResumeData?
    /// The file with what was loaded before, until the rest is written to it.
    var held: PartialFile?
    /// The file that is written to, where its name has to be known.
    var writing: TemporaryFile?
    /// By what the answer under way can be continued.
    var validator: ResumeValidator?
    /// The length of the whole, where it is known.
    var total: Int64?
    /// Where the rest that is coming has to end: behind the last byte of its range.
    var end: Int64?
    /// Whether the request goes out once more, without a range.
    var startsOver = false
    /// Whether a cancellation asks for what has come to be kept (B9.16, B9.19).
    var isWanted = false
    /// The handlers that wait for the data.
    var waiting: [@Sendable (Data?) -> Void] = []
    /// What has been kept of a load that failed.
    var kept: PartialFile?
    var data: Data?
    /// A body that a cache had.
    var stored: TemporaryFile?

    /// From where on the rest is asked for, and by what; nil where everything is.
    var asked: (offset: Int64, validator: ResumeValidator)? {
        guard let held, let source else { return nil }
        return (held.byteCount, source.validator)
    }

    /// What there is of the file is of no use to this load any more; it is the caller's.
    @discardableResult
    mutating func letGo() -> PartialFile? {
        guard let held else { return nil }
        self.held = nil
        source = nil
        return held
    }

    /// The answer is something else than the rest. What there is of the file stays where it is: a server that is out of
    /// order today may be in order tomorrow (B9.31).
    mutating func leavePart() {
        held?.file.letGo()
        held = nil
    }

    /// Decides whether an error brings data along: those of a cancellation only where they were
    /// asked for (B9.18 to B9.20).
    mutating func settle(_ error: (any Error)?) -> (any Error)? {
        guard let failure = error as? URLError, failure.code != .cancelled || isWanted else {
            data = nil
            return error
        }
        if data == nil, let source {
            // Nothing has been changed of what there was.
            data = source.encoded
            kept = held
            held = nil
        }
        return data.map { LoadFailure.adding($0, to: failure) } ?? failure
    }
}

/// What a download does when the head of its answer has come.
enum DownloadStep: Sendable {
    /// The body goes into a new file.
    case deliver
    /// The body goes behind what there is.
    case resume(at: Int64, total: Int64)
    /// What there is is everything; this is shown as the response.
    case complete(HTTPURLResponse, Int64)
    /// The request goes out once more.
    case startOver
}
