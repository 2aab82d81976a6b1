// FTP transfers in engine tests: a journal of what a receiver is told, and an engine on a real
// loop against an FTPServer.

import Testing
import URLLoadingEngine
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTestSupport

/// What came of an FTP transfer.
struct FTPAnswer: Sendable {
    var head: FTPHead?
    var body: [UInt8] = []
    var sent: Int64 = 0
    var refusals: [Int] = []
    var error: EngineError?

    var text: String { String(decoding: body, as: UTF8.self) }

    var failure: FTPFailure? {
        if case .ftp(let failure) = error { failure } else { nil }
    }
}

/// A receiver that remembers everything.
final class FTPJournal: FTPReceiver {
    let handle: FTPHandle
    private(set) var answer = FTPAnswer()
    private(set) var ends = 0
    /// The answer to each question for a name and a password.
    private var credentials: [PasswordCredential?]
    private let pausesAfter: Int?
    private let onQuestion: ((ConnectionQuestion) -> Void)?
    private let onBody: ((FTPHandle) -> Void)?
    private let done: (FTPAnswer) -> Void

    init(
        _ handle: FTPHandle, credentials: [PasswordCredential?] = [], pausesAfter: Int? = nil,
        onQuestion: ((ConnectionQuestion) -> Void)? = nil, onBody: ((FTPHandle) -> Void)? = nil,
        done: @escaping (FTPAnswer) -> Void = { _ in }
    ) {
        self.handle = handle
        self.credentials = credentials
        self.pausesAfter = pausesAfter
        self.onQuestion = onQuestion
        self.onBody = onBody
        self.done = done
    }

    var answersQuestions: Bool { onQuestion != nil }

    func asked(_ question: ConnectionQuestion) { onQuestion?(question) }

    func askedForCredential(refusals: Int) {
        answer.refusals.append(refusals)
        handle.answer(credentials.isEmpty ? nil : credentials.removeFirst())
    }

    func received(head: FTPHead) -> ReceiverDemand {
        answer.head = head
        return .more
    }

    func received(body piece: BodyPiece) -> ReceiverDemand {
        answer.body.append(contentsOf: piece.bytes)
        onBody?(handle)
        return pausesAfter.map { answer.body.count >= $0 ? .pause : .more } ?? .more
    }

    func sent(bodyBytes: Int64) { answer.sent = bodyBytes }

    func finished(_ error: EngineError?) {
        ends += 1
        answer.error = error
        done(answer)
    }
}

/// What a test does while a transfer is under way.
struct FTPHooks: Sendable {
    var asked: (@Sendable (ConnectionQuestion) -> Void)?
    var onBody: (@Sendable (FTPHandle) -> Void)?
}

extension LiveEngine {
    /// Carries out a transfer with a server and waits for its end.
    func ftp(
        _ server: FTPServer, _ path: String, host: String = "host.test", port: Int? = nil,
        routes: [Route] = [.direct()],
        body: RequestBody = .none, bodyLength: Int64? = nil, credentials: [PasswordCredential?] = [],
        hooks: FTPHooks = FTPHooks(),
        change: (inout FTPJob) -> Void = { _ in }
    ) async throws -> FTPAnswer {
        let place = try #require(Origin(scheme: .http, host: host, port: port ?? server.port))
        var job = FTPJob(path: try FTPPath(percentEncoded: path))
        change(&job)
        let finished = job
        return await withHandover { continuation in
            _ = engine.submit(
                ftp: FTPRequest(
                    server: place, routes: routes, job: finished, body: body, bodyLength: bodyLength, idleTimeout: nil
                ) { handle, _ in
                    FTPJournal(handle, credentials: credentials, onQuestion: hooks.asked, onBody: hooks.onBody) {
                        continuation.resume(returning: $0)
                    }
                })
        }
    }
}
