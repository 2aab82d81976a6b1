// What background sessions do not do (B10.3 to B10.7, B10.28), and how that is said: Apple's loader raises an
// exception, which here would stop a process; so a line on standard error tells the programmer, and the
// task's error the program.
//
// Must not know: what happens to tasks that are taken.

import Foundation
import URLLoadingPolicy

/// Why a background session does not take a task.
enum BackgroundRefusal: Sendable, Equatable {
    case noDelegate
    case handler
    case asynchronous
    case bodyData
    case bodyStream
    case longBody
    case fileName
    case scheme
    case stream

    /// What is said of a task when it is made; nil for nothing. Of what the task is the session's already, nothing.
    init?(of new: borrowing NewTask, hasDelegate: Bool) {
        switch new.kind.name {
        case .data, .upload:
            guard new.number == nil else { return nil }
            self.init(new.request, body: new.body, outlet: new.outlet, hasDelegate: hasDelegate)
        case .stream: self = .stream
        case .webSocket: return nil
        case .warmUp: self = .asynchronous
        }
    }

    /// What is wrong with a task of a background session; nil for nothing.
    init?(_ request: URLRequest?, body: TaskBody, outlet: TaskOutlet, hasDelegate: Bool) {
        switch outlet {
        case .whole(.handler), .file(.handler): self = .handler
        case .whole(.awaiting), .pipe, .file(.awaiting), .warmth: self = .asynchronous
        case .delegate, .file(.delegate):
            guard let reason = Self.reason(request, body) ?? (hasDelegate ? nil : .noDelegate) else { return nil }
            self = reason
        }
    }

    private static func reason(_ request: URLRequest?, _ body: TaskBody) -> BackgroundRefusal? {
        switch body {
        case .data: return .bodyData
        case .delegate: return .bodyStream
        case .request:
            switch request?.values.body {
            case .stream: return .bodyStream
            case .data(let data) where data.count > TransferLimits.body: return .longBody
            case nil, .none?, .data: break
            }
        case .file(let url):
            guard url.isFileURL, url.path.hasPrefix("/"), FileCarrier.isOfThisMachine(url) else { return .fileName }
        case .resuming(let resumed):
            switch resumed.content {
            case .data: return .bodyData
            case .stream: return .bodyStream
            case .file, .unusable: break
            }
        case .opened, .part: break
        }
        guard let scheme = request?.url?.scheme?.lowercased() else { return nil }
        return scheme == "http" || scheme == "https" ? nil : .scheme
    }

    /// The error of such a task.
    func error(_ url: URL?) -> URLError {
        switch self {
        case .scheme, .fileName: LoadFailure.unsupportedURL(url, text)
        case .longBody: LoadFailure.make(.dataLengthExceedsMaximum, url, text)
        case .noDelegate, .handler, .asynchronous, .bodyData, .bodyStream, .stream:
            LoadFailure.make(.unknown, url, text, suggestion: suggestion)
        }
    }

    /// Tells the programmer.
    func report() { ErrorText.reportMisuse("fault: \(text) \(suggestion ?? "")") }

    /// What is not done.
    var text: String {
        switch self {
        case .noDelegate: "A background session needs a delegate, which hears of its tasks also in later runs."
        case .handler: "Completion handler blocks are not supported in background sessions."
        case .asynchronous: "Async calls are not supported in background sessions."
        case .bodyData: "Upload tasks from data are not supported in background sessions."
        case .bodyStream: "Upload tasks from a stream are not supported in background sessions."
        case .longBody: "The request's body is too long for a background session."
        case .fileName: "The file to upload is not named by a file URL of this machine."
        case .scheme: "Only http and https are supported in background sessions."
        case .stream: "Stream tasks are not supported in background sessions."
        }
    }

    private var suggestion: String? {
        switch self {
        case .noDelegate: "Give the session a delegate."
        case .handler, .asynchronous: "Use a delegate instead."
        case .bodyData, .bodyStream, .longBody: "Upload a file instead."
        case .scheme, .fileName: nil
        case .stream: "Use a session of another kind."
        }
    }
}
