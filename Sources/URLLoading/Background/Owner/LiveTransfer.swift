// A transfer as its owner has it in memory: its record, and the attempt under way.
//
// Must not know: what is told of it, and when it is written down.

import Dispatch
import Foundation
import URLLoadingPolicy
import URLLoadingSystem

/// A transfer of an owner; belongs to its queue.
final class LiveTransfer {
    var record: TransferRecord
    /// The attempt under way, if there is one.
    var attempt: URLSessionTask?
    /// Why the attempt is being ended from this side.
    var intent = Intent.none
    /// Left when the attempt has ended and that is written down: the owner does not end before that.
    var stopping: DispatchGroup?
    /// The question that is open, and the handler that waits for its answer.
    var question: OpenQuestion?
    /// Where the answer to an upload or a data task is collected.
    var answer: TemporaryFile?
    /// The finished download, from the moment it is whole.
    var downloaded: String?
    /// What went wrong with files of this attempt.
    var fileFailure: BackgroundDirectoryFailure?
    /// What redirects of this attempt have said about cookies.
    var cookies = AttemptCookies()
    /// The response of this attempt, where a program was told of it when it came.
    var toldHead: TransferHead?
    /// How many bytes there were at the last checkpoint.
    var checkpoint: Int64 = 0
    /// Whether the record names the file that the attempt writes to, and not one that went when the download began
    /// anew.
    var namesFile = false
    /// Where the record says that an upload goes on: the URL that the server of this attempt has named.
    var resource: String?
    /// Whether the attempt goes on with an upload that an earlier one has begun.
    private(set) var goesOnUpload = false
    /// Whether the journal is older than the record.
    var isUnsaved = false

    enum Intent {
        case none
        case cancel
        case expire
        /// To go on later.
        case halt
        /// To be tried again: it waits for a network, and another wants its place.
        case postpone
    }

    struct OpenQuestion {
        let challenge: TransferChallenge
        let original: URLAuthenticationChallenge
        let completion: @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    }

    init(record: TransferRecord) { self.record = record }

    /// Notes that an attempt begins, of which nothing has come.
    func begin(_ task: URLSessionTask) {
        attempt = task
        intent = .none
        fileFailure = nil
        downloaded = nil
        checkpoint = record.counts.received
        namesFile = false
        resource = nil
        goesOnUpload =
            record.kind == .upload && record.resumption != nil
            && record.original.flags & TransferRequest.beginsWithPart == 0
        toldHead = nil
        cookies = AttemptCookies()
        record.state = .running
        record.awaitsDelegate = false
        record.head = nil
    }
}
