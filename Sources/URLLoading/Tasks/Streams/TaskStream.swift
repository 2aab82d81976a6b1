// What a stream task is beside other tasks: its calls on the way to the engine, and what comes back on the way to
// handlers and delegates (behaviour 15.4). What is asked for and how it ended is kept in its `StreamCalls`.
//
// Must not know: bytes on the wire, in which order calls are carried out.

import Dispatch
import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem

/// Something a handler or a delegate is told about a stream.
enum StreamEvent: Sendable {
    case read(@Sendable (Data?, Bool, (any Error)?) -> Void, Result<StreamPiece, StreamFailure>)
    case wrote(@Sendable ((any Error)?) -> Void, StreamFailure?)
    case readClosed
    case writeClosed
    case captured(CapturedStreams)
    case ended(StreamFailure?)
}

/// A task as a connection.
struct TaskStream: Sendable {
    let task: TaskCore

    /// What it is asked to do; nil for a mock, which is no connection.
    private var calls: StreamCalls? { task.kind.stream }

    // MARK: Calls

    func read(
        least: Int, most: Int, timeout: TimeInterval, _ handler: @escaping @Sendable (Data?, Bool, (any Error)?) -> Void
    ) {
        guard least >= 0, most >= least else {
            ErrorText.reportMisuse("a stream was to be read with a minimum of \(least) and a maximum of \(most) bytes")
            return hear(.read(handler, .failure(.known(Self.invalidArgument))))
        }
        say(
            .read(least: least, most: most, timeout: Duration(timeout: timeout)) { hear(.read(handler, $0)) })
    }

    func write(_ data: Data, timeout: TimeInterval, _ handler: @escaping @Sendable ((any Error)?) -> Void) {
        say(.write(Array(data), timeout: Duration(timeout: timeout)) { hear(.wrote(handler, $0)) })
    }

    func say(_ order: StreamOrder) {
        if let calls { calls.say(order) } else { order.refuse(.known(URLError(.unsupportedURL))) }
    }

    private static var invalidArgument: any Error {
        UnderlyingError.system(SystemError(errno: EINVAL, call: "readData"))
    }

    /// Brings an answer to the delegate queue.
    private func hear(_ event: StreamEvent) {
        if task.usesRelay { return task.delivery.post(.stream(event)) }
        DispatchQueue.global().async { [self] in heed(event) }
    }

    // MARK: Opening

    /// The first `resume()`.
    func open(in session: SessionCore) {
        guard let calls else { return }
        guard session.protocols?.mock == nil else {
            return task.driver.endUnloaded(
                LoadFailure.unsupportedURL(nil, "A URLSession.Mock opens no connection to \(calls.host)."))
        }
        // As https is, what TLS may be asked for goes through a proxy's tunnel (B13.15).
        guard calls.port > 0, let origin = Origin(scheme: .https, host: calls.host, port: calls.port) else {
            let text = "There is no host \"\(calls.host)\" with a port \(calls.port)."
            return task.driver.endUnloaded(LoadFailure.make(.badURL, nil, text))
        }
        switch session.settings.proxies.ways(to: origin) {
        case .direct: open(calls, to: origin, by: [.direct()])
        case .routes(let routes): open(calls, to: origin, by: routes)
        case .automatic:
            guard let url = URL(string: "https://\(origin.authority)/") else {
                return task.driver.endUnloaded(
                    LoadFailure.make(.badURL, nil, "\(origin.authority) cannot be put into a URL."))
            }
            // A resolver may never answer: what it would answer to does not hold the task.
            RouteInquiry(task: task, subject: url, url: nil).begin { $0.stream.open(calls, to: origin, by: $1) }
        case .unusable(let fault): task.driver.endUnloaded(LoadFailure.unusableProxy(nil, fault))
        }
    }

    private func open(_ calls: StreamCalls, to origin: Origin, by routes: [Route]) {
        guard let session = task.session else { return }
        let deadline = task.driver.submit { $0.resourceDeadline }
        guard let deadline else { return task.driver.endUnloaded(LoadFailure.cancelled(nil)) }
        var request = StreamRequest(origin: origin, routes: routes, resourceDeadline: deadline) { handle, reactor in
            takeUp(handle, calls, on: reactor)
        }
        // The origin is one of https, as TLS may be asked for.
        request.judge = task.trust.judge(ofConnectionTo: origin, by: .direct())
        request.waitsForConnectivity = session.settings.waitsForConnectivity
        (task.engine ?? session.engine).open(request)
    }

    /// Called on the loop when the engine takes the stream up; what was done to the task meanwhile is made up for.
    func takeUp(_ handle: StreamHandle, _ calls: StreamCalls, on reactor: Reactor) -> any StreamReceiver {
        let (_, late) = task.driver.takeUp(.other(handle)) { (_: borrowing TaskState) in }
        calls.begin(handle)
        return TaskStreamReceiver(core: task, calls: calls, beginning: late.beginning, reactor: reactor)
    }

    // MARK: Telling

    /// Tells handlers and delegates, on their queue.
    func heed(_ event: StreamEvent) {
        switch event {
        case .read(let handler, .success(let piece)): handler(Data(piece.bytes), piece.isAtEnd, nil)
        case .read(let handler, .failure(let failure)): handler(nil, false, error(failure))
        case .wrote(let handler, let failure): handler(failure.map(error))
        case .readClosed: tell(.readClosed) { $0.urlSession($1, readClosedFor: $2) }
        case .writeClosed: tell(.writeClosed) { $0.urlSession($1, writeClosedFor: $2) }
        case .captured(let streams): become(streams)
        case .ended(let failure): task.completion.begin(failure.map(urlError))?.resume()
        }
    }

    private func tell(
        _ method: DelegateMethod,
        _ call: (any URLSessionStreamDelegate, URLSession, URLSessionStreamTask) -> Void
    ) {
        guard let shown = task.face as? URLSessionStreamTask else { return }
        task.telling.tellFirst(method, { $0.session as? any URLSessionStreamDelegate }) { call($0, $1, shown) }
    }

    /// B15.51: the streams are the delegate's, and the task is complete without a word.
    private func become(_ streams: CapturedStreams) {
        if task.isOver {
            streams.close()
            task.completion.begin(nil)?.resume()
            return
        }
        let (input, output) = streams.pair()
        task.completion.concludeUntold {
            tell(.becameStreams) { $0.urlSession($1, streamTask: $2, didBecome: input, outputStream: output) }
        }
    }

    // MARK: Errors

    /// What a call fails with: an error of the system's where it came to a direction that is over (B17.55).
    private func error(_ failure: StreamFailure) -> any Error {
        switch failure {
        case .fault(.readingClosed), .fault(.captured):
            UnderlyingError.system(SystemError(errno: ENOTCONN, call: "read"))
        case .fault(.writingClosed): UnderlyingError.system(SystemError(errno: EPIPE, call: "write"))
        case .known(let error): error
        case .fault, .engine: urlError(failure)
        }
    }

    /// What the task fails with.
    private func urlError(_ failure: StreamFailure) -> URLError {
        // Only what was a data task has one.
        let url = task.currentRequest?.url
        switch failure {
        case .engine(let error):
            return ErrorMapping.urlError(
                error, url: url, evaluator: task.trust.evaluator)
        case .known(let error):
            return error as? URLError ?? LoadFailure.make(.unknown, url, "\(error)")
        case .fault(let fault):
            switch fault {
            case .cancelled: return LoadFailure.cancelled(url)
            case .timedOut: return LoadFailure.make(.timedOut, url, "The stream was not ready in time.")
            case .tookTooLong: return LoadFailure.make(.timedOut, url, "The stream lasted longer than a task may.")
            case .plaintextBeforeTLS:
                return LoadFailure.make(
                    .secureConnectionFailed, url,
                    "Something came before TLS began that was not asked for; it may be from another sender.")
            case .closedBeforeTLS:
                return LoadFailure.make(
                    .secureConnectionFailed, url, "One direction of the connection was over before TLS could begin.")
            case .readingClosed, .writingClosed, .captured, .lost:
                return LoadFailure.make(.networkConnectionLost, url, "The connection is over.")
            }
        }
    }
}

extension Duration {
    /// A limit in seconds; nil for none.
    fileprivate init?(timeout: TimeInterval) {
        guard timeout > 0 else { return nil }
        // A limit of more than a year is none that would be noticed.
        self = .milliseconds(Int64(min(timeout, 366 * 86_400) * 1000))
    }
}

/// The loop's side of a stream task.
private final class TaskStreamReceiver: StreamReceiver {
    private let core: TaskCore
    private let calls: StreamCalls
    private let reactor: Reactor
    let beginning: LoadBeginning

    init(core: TaskCore, calls: StreamCalls, beginning: LoadBeginning, reactor: Reactor) {
        self.beginning = beginning
        self.core = core
        self.calls = calls
        self.reactor = reactor
    }

    var answersQuestions: Bool { core.trust.answersChallenges }

    func asked(_ question: ConnectionQuestion) {
        if case .proxy(let question) = question {
            core.authentication.refused(by: question, on: reactor)
        } else {
            core.delivery.post(.challenge(question), on: reactor)
        }
    }

    func waitsForConnectivity() { core.delivery.post(.waiting, on: reactor) }

    func moved(received: Int, sent: Int) {
        core.counting.moved(received: received, sent: sent)
    }

    func readClosed() { core.delivery.post(.stream(.readClosed), on: reactor) }

    func writeClosed() { core.delivery.post(.stream(.writeClosed), on: reactor) }

    func captured(_ connection: CapturedConnection) {
        calls.end(.fault(.captured))
        core.delivery.post(.stream(.captured(CapturedStreams(connection))), on: reactor)
    }

    func finished(_ failure: StreamFailure?) {
        calls.end(failure)
        core.delivery.post(.stream(.ended(failure)), on: reactor)
    }
}

extension TaskCore {
    /// The task as a connection.
    var stream: TaskStream { TaskStream(task: self) }
}
