// What a run of a program makes of journals that an earlier one has left: the tasks that it meets again, and their ends.

import Foundation
import Testing
import URLLoadingPolicy
import URLLoadingTestSupport

@testable import URLLoading

@Suite("Background sessions: tasks that are met again", .timeLimit(.minutes(2)))
struct BackgroundMeetingTests {
    private let folder = BackgroundFolder()

    /// Leaves the journal of a task with the number 1.
    private func leave(
        _ kind: TransferKind = .download, _ change: (inout TransferRecord, BackgroundDirectory) throws -> Void
    ) throws {
        let directory = try BackgroundDirectory(identifier: "test", in: BackgroundDirectory.root(in: folder.path))
        let order = TransferOrder(task: 1, kind: kind, request: TransferRequest(url: "http://127.0.0.1:9/"))
        var record = TransferRecord(order, allowed: nil, isDiscretionary: false, now: .now)
        try change(&record, directory)
        try directory.write(record)
    }

    @Test(
        "B10.45, B10.26: a task with a date is met again suspended where it was, and running where its delegate was to be asked",
        arguments: [true, false])
    func suspendedWithDate(wasSuspended: Bool) async throws {
        try leave { record, _ in
            record.earliestBegin = TransferInstant.now.wall + 3_600_000
            record.isSuspended = wasSuspended
            record.awaitsDelegate = !wasSuspended
        }
        try await withBackgroundSession(folder.configuration()) { session, _ in
            let tasks = await session.allTasks
            #expect(tasks.map(\.state) == [wasSuspended ? .suspended : .running])
        }
    }
}
