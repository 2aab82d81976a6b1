// Where the result of a task goes. What is peculiar to each way is asked here once, and said with each: of bodies that
// are taken as a whole in `WholeBodyOutlet`, of files in `FileOutlet`, of sequences in `EventPipe`; the delegates are
// asked and told in any case.
//
// Must not know: how a body comes.

import Foundation
import URLLoadingSystem

/// Where the result of a task goes.
enum TaskOutlet: Sendable {
    /// Piece by piece to the delegates.
    case delegate
    /// As a whole to a handler or an async call.
    case whole(WholeBodyOutlet)
    /// To an iteration, as it comes.
    case pipe(EventPipe)
    /// In a file.
    case file(FileOutlet)
    /// Nowhere: a connection is opened, and the waiting call hears of that.
    case warmth(WarmUp)

    /// Whether the result goes to asynchronous code, past the delegate queue.
    var isAwaited: Bool {
        switch self {
        case .delegate: false
        case .whole(let outlet): outlet.isAwaited
        case .pipe, .warmth: true
        case .file(let outlet): outlet.isAwaited
        }
    }

    /// Which delegates are asked about the response, and see the body as it comes.
    var audience: Audience {
        switch self {
        case .delegate: .all
        case .whole(let outlet): outlet.audience
        // B1.93.
        case .pipe: .own
        // B1.101: downloads do not ask about the response either.
        case .file, .warmth: .noDelegate
        }
    }

    /// What `prefersIncrementalDelivery` is at first (B1.56).
    var prefersIncrementalDelivery: Bool {
        switch self {
        case .delegate, .pipe: true
        case .whole(let outlet): outlet.isAwaited
        case .file, .warmth: false
        }
    }

    /// Whether the body is collected.
    var takesWholeBody: Bool { if case .whole = self { true } else { false } }

    /// The file's way, of a download.
    var file: FileOutlet? { if case .file(let outlet) = self { outlet } else { nil } }

    /// Whether the task is a download, whose body goes to a file.
    var savesFile: Bool { if case .file = self { true } else { false } }

    /// The pipe to the program's iteration.
    var pipe: EventPipe? { if case .pipe(let pipe) = self { pipe } else { nil } }

    /// Brings the end to where the result goes; returns the async call that waits for it, for the caller to resume.
    func finish(_ task: TaskCore, _ end: borrowing TaskResult, body: Data?, file: TemporaryFile?) -> EndedCall? {
        switch self {
        case .delegate: task.telling.tellCompletion(end.error)
        case .whole(let outlet): return outlet.finish(task, end, body)
        case .pipe(let pipe): pipe.post(.end(end.error))
        case .file(let outlet): return outlet.finish(task, end, file)
        case .warmth(let warmUp): return warmUp.finish(task, end)
        }
        return nil
    }
}

extension EndedCall {
    /// The answer to the call that waits for a task; nil where none does. `success` is asked where the task has not
    /// failed, and has no answer where something is missing.
    init?(_ task: TaskCore, _ end: borrowing TaskResult, _ success: (URLResponse) -> Answer?) {
        guard let call = end.call else { return nil }
        if let error = end.error {
            self.init(call, .failure(error))
        } else if let answer = end.response.flatMap(success) {
            self.init(call, answer)
        } else {
            let url = task.originalRequest?.url
            self.init(call, .failure(LoadFailure.make(.unknown, url, "The load ended without a response.")))
        }
    }
}
