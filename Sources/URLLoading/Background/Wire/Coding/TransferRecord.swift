// What is written down of one task of a background session, so that it can go on after all processes that knew of it
// have died (B10.30, B10.33). A value; `TransferRecordCoding` makes bytes of it, `BackgroundDirectory` files of those.
//
// It must not know files, clocks, or what carries transfers out.

import URLLoadingPolicy

/// What a task does.
package enum TransferKind: UInt8, Sendable, Hashable, CaseIterable {
    /// Its answer is a file that the program gets.
    case download
    /// It sends a file.
    case upload
    /// It does neither. Its answer is collected like an upload's and survives like that, whatever S002 says of data
    /// tasks (B10.5).
    case data
}

/// What a task is about to do.
package enum TransferState: Sendable, Hashable {
    /// To begin, or go on, as soon as it is its turn.
    case waiting
    /// Under way.
    case running
    /// To try again after a failure: this often so far, and this many milliseconds after it was noted in `lifetime`.
    case retrying(attempt: UInt32, delay: Int64)
    /// A challenge has to be answered first; the transfer begins anew when a program can do that (B10.37).
    case asking(TransferChallenge)
    /// Over; what is left are events that were not confirmed.
    case over
}

/// The journal of one task.
package struct TransferRecord: Sendable, Hashable {
    /// The number that the program knows the task by, `taskIdentifier`.
    package var task: UInt64
    /// What it does.
    package var kind: TransferKind
    /// What was asked for first.
    package var original: TransferRequest
    /// What is asked for now, after redirects.
    package var current: TransferRequest
    /// The file that is sent.
    package var source: String?
    /// The program's own text, `taskDescription`.
    package var label: String?
    /// Not before this: milliseconds since 1970 by the calendar's clock (B10.26).
    package var earliestBegin: Int64?
    /// What the program expects to send and receive; −1 where it does not say.
    package var expectedBySender: Int64 = -1
    /// What the program expects to receive; −1 where it does not say.
    package var expectedByReceiver: Int64 = -1
    /// 0 to 1.
    package var priority: Float = 0.5
    /// Whether the program has suspended it; nothing begins meanwhile.
    package var isSuspended = false
    /// Whether the program's delegate is to be asked when its date has come; nothing begins before,
    /// unless no program is there.
    package var awaitsDelegate = false
    /// Whether the session is one that leaves the time to the system (B10.12).
    package var isDiscretionary = false
    /// What is next.
    package var state = TransferState.waiting
    /// How far it has come.
    package var counts = TransferCounts()
    /// The response, once there is one.
    package var head: TransferHead?
    /// From where and by what it goes on: the loader's own resume data, with offset, validator and name of the file.
    package var resumption: [UInt8]?
    /// How often it has failed in a row.
    package var failures: UInt32 = 0
    /// What was measured, until that is news.
    package var measures = TransferMeasures()
    /// How much time it has left.
    package var lifetime: TransferLifetime
    /// When it was made: milliseconds since 1970.
    package var created: Int64
    /// What the program has not confirmed to have heard, in order.
    package var events: [TransferNews] = []
    /// The number of the next event.
    package var nextNews: UInt64 = 1

    /// The record of a task that begins.
    package init(_ order: TransferOrder, allowed: Int64?, isDiscretionary: Bool, now: TransferInstant) {
        task = order.task
        kind = order.kind
        original = order.original
        current = order.current
        source = order.source
        label = order.label
        earliestBegin = order.earliestBegin
        expectedBySender = order.expectedBySender
        expectedByReceiver = order.expectedByReceiver
        priority = order.priority
        self.isDiscretionary = isDiscretionary
        resumption = order.resumption
        awaitsDelegate = order.awaitsDelegate
        isSuspended = order.isSuspended
        lifetime = TransferLifetime(allowed: allowed, from: now)
        created = now.wall
    }

    init(task: UInt64, kind: TransferKind, request: TransferRequest, lifetime: TransferLifetime, created: Int64) {
        self.task = task
        self.kind = kind
        original = request
        current = request
        self.lifetime = lifetime
        self.created = created
    }

    /// Adds something that the program has to hear, with the next number.
    package mutating func add(_ content: TransferNews.Content) {
        events.append(TransferNews(number: nextNews, content: content))
        nextNews += 1
    }

    /// Adds the end of the task, and before it what was measured.
    package mutating func end(_ failure: TransferFailure?) {
        if !measures.isEmpty { add(.measured(measures)) }
        measures = TransferMeasures()
        add(.completed(failure))
    }

    /// The program has heard of everything up to a number; whether that changes anything.
    package mutating func heard(upTo number: UInt64) -> Bool {
        let count = events.count
        events.removeAll { $0.number <= number }
        return events.count != count
    }

    /// Whether it may not begin, nor go on, before the program says so, if one is there.
    package var standsStill: Bool { isSuspended || awaitsDelegate }

    /// Whether nothing is left that a program could want.
    package var isDone: Bool { state == .over && events.isEmpty }

    /// What the program is told of it.
    package var summary: TransferSummary {
        var redirect = current == original ? nil : current
        redirect?.body = nil
        return TransferSummary(
            task: task, kind: kind, redirect: redirect, keepsBody: current.body != nil, label: label,
            earliestBegin: earliestBegin, expectedBySender: expectedBySender, expectedByReceiver: expectedByReceiver,
            priority: priority, isSuspended: standsStill, isOver: state == .over, counts: counts, head: head,
            created: created)
    }
}

/// Something that a program has to hear, kept until it says that it has (B10.16, B10.34).
package struct TransferNews: Sendable, Hashable {
    /// Counts up within a task.
    package var number: UInt64
    /// What it is.
    package var content: Content

    /// What can be news.
    package enum Content: Sendable, Hashable {
        /// A download is whole. The file, an absolute path, stays until this is confirmed; the program may move it.
        case downloaded(path: String)
        /// The answer to an upload or a data task is whole, in a file as above.
        case answered(path: String)
        /// What was measured; comes before the end.
        case measured(TransferMeasures)
        /// The task has ended; the last of a task.
        case completed(TransferFailure?)
    }

    /// Makes news.
    package init(number: UInt64, content: Content) {
        self.number = number
        self.content = content
    }
}

/// A task as the program sees it that meets it again (B10.33). What was asked for first, and its body, the program has
/// from the journal.
package struct TransferSummary: Sendable, Hashable {
    /// `taskIdentifier`.
    package var task: UInt64
    /// What it does.
    package var kind: TransferKind
    /// What is asked for now, without its body; nil where that is what was asked for first.
    package var redirect: TransferRequest?
    /// Whether what is asked for now has the body of what was asked for first.
    package var keepsBody: Bool
    /// `taskDescription`.
    package var label: String?
    /// `earliestBeginDate` in milliseconds since 1970.
    package var earliestBegin: Int64?
    /// `countOfBytesClientExpectsToSend`.
    package var expectedBySender: Int64
    /// `countOfBytesClientExpectsToReceive`.
    package var expectedByReceiver: Int64
    /// `priority`.
    package var priority: Float
    /// Whether it stands still because the program said so.
    package var isSuspended: Bool
    /// Whether it is over, and only its last news have to be heard.
    package var isOver: Bool
    /// How far it has come.
    package var counts: TransferCounts
    /// The response, once there is one.
    package var head: TransferHead?
    /// When it was made: milliseconds since 1970.
    package var created: Int64

    /// What is asked for now, where this was asked for first.
    package func current(after original: TransferRequest) -> TransferRequest {
        guard var request = redirect else { return original }
        if keepsBody { request.body = original.body }
        return request
    }
}

extension TransferSchedule.Entry {
    /// What the schedule has to know of a recorded transfer.
    package init(_ record: TransferRecord) {
        self.init(
            priority: record.priority, isDiscretionary: record.isDiscretionary, isSuspended: record.isSuspended,
            earliestBegin: record.earliestBegin, lifetime: record.lifetime, failures: record.failures)
    }
}
