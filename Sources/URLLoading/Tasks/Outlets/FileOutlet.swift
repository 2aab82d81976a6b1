// A result whose body goes to a file, and the receiver of that file. What is written to it, and told meanwhile, is
// `TaskDownload`'s.

import Foundation
import URLLoadingSystem

/// Where the file of a download task goes.
enum FileOutlet: Sendable {
    /// To the delegates, which have it for the length of a call (B9.2).
    case delegate
    /// To a handler, which has it for the length of the call (B1.87).
    case handler(CompletionHandler<URL>)
    /// To an async call, which keeps it (B1.91).
    case awaiting

    /// Whether it goes to asynchronous code.
    var isAwaited: Bool { if case .awaiting = self { true } else { false } }

    /// Which delegates hear how far the file is (B9.10, B1.93).
    var audience: Audience {
        switch self {
        case .delegate: .all
        case .handler: .noDelegate
        case .awaiting: .own
        }
    }

    /// Tells the handler of the end; returns the async call, for the caller to resume.
    func finish(_ task: TaskCore, _ end: borrowing TaskResult, _ file: TemporaryFile?) -> EndedCall? {
        switch self {
        case .delegate:
            task.telling.tellCompletion(end.error)
            return nil
        case .handler(let handler):
            handler.call(end.error == nil ? file?.url : nil, end.response, end.error)
            // B1.87.
            file?.remove()
            return nil
        case .awaiting:
            return EndedCall(task, end) { response in
                guard let file else { return nil }
                // B1.91.
                file.letGo()
                return .file(file.url, response)
            }
        }
    }
}
