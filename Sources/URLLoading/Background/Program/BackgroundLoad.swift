// A transfer of a background session, as its task steers it: every step is a word to the owner of the transfers.
//
// Must not know: which process the owner is in, and whether it can be reached.

import Foundation
import Synchronization
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem

/// The load of a task whose transfer another process owns, or this one's owner of transfers.
final class BackgroundLoad: LoadHandle {
    private let session: BackgroundSession
    private let task: UInt64
    private weak let core: TaskCore?
    /// What is read of an answer that has come, when there is room.
    private let answer = Mutex<AnswerReader?>(nil)

    init(_ session: BackgroundSession, _ core: TaskCore) {
        self.session = session
        self.core = core
        task = UInt64(core.identifier)
    }

    func cancel() {
        let wants = core?.state.withLock { state in
            state.download?.isWanted == true || !state.resumeDataHandlers.isEmpty
        }
        session.tell(.cancel(task: task, wantsResumeData: wants ?? false))
    }

    func suspend() { session.tell(.suspend(task: task)) }

    func resume() { session.tell(.resume(task: task)) }

    func setPriority(_ priority: Float) { session.tell(.priority(task: task, priority)) }

    func resumeReading() { answer.withLock { $0 }?.goOn() }

    /// A body is whole before the delegate is asked about it.
    func discardRest() {}

    /// Tells the body of an upload's or a data task's answer, which is in a file, and then ends the hop.
    func tell(answerAt path: String, then end: @escaping @Sendable ((any Error)?) -> Void) {
        guard let core else { return end(nil) }
        let reader = AnswerReader(path: path, core: core, completion: end)
        answer.withLock { $0 = reader }
        reader.goOn()
    }
}

/// Brings the body of an answer from a file to a task, no faster than its delegate takes it.
private final class AnswerReader: Sendable {
    private let path: String
    private weak let core: TaskCore?
    private let state: Mutex<State>
    private let line = BlockingLane(pool: .shared, width: 1)

    private struct State: Sendable {
        var file: OpenFile?
        var offset: Int64 = 0
        var completion: (@Sendable ((any Error)?) -> Void)?
        /// Whether there is room, or it has been asked for since.
        var continuations = 0
    }

    init(path: String, core: TaskCore, completion: @escaping @Sendable ((any Error)?) -> Void) {
        self.path = path
        self.core = core
        state = Mutex(State(completion: completion))
    }

    func goOn() {
        state.withLock { $0.continuations += 1 }
        line.run { self.readSome() }
    }

    /// On the lane, by one thread at a time.
    private func readSome() {
        while true {
            let (noted, isOver) = state.withLock { ($0.continuations, $0.completion == nil) }
            guard !isOver, let core else { return }
            let piece: Data
            switch next() {
            case .failure(let error): return end(error)
            case .success(let data): piece = data
            }
            guard !piece.isEmpty else { return end(nil) }
            if case .pause = core.delivery.post(body: piece, on: nil), state.withLock({ $0.continuations == noted }) {
                return
            }
        }
    }

    private func next() -> Result<Data, any Error> {
        var file = state.withLock { $0.file }
        if file == nil {
            switch OpenFile.open(path: path) {
            case .success(let opened):
                file = opened
                state.withLock { $0.file = opened }
            // A program before this one has heard of it, and was killed before it could say so.
            case .failure(let error) where error.isMissing: return .success(Data())
            case .failure(let error): return .failure(unreadable("\(error)"))
            }
        }
        guard let file else { return .success(Data()) }
        let offset = state.withLock { $0.offset }
        let count = Int(min(Int64(Self.pieceSize), file.byteCount - offset))
        guard count > 0 else { return .success(Data()) }
        var data = Data(count: count)
        switch data.withUnsafeMutableBytes({ file.read(at: offset, into: $0) }) {
        case .success(let read):
            state.withLock { $0.offset += Int64(read) }
            return .success(data.prefix(read))
        case .failure(let failure):
            return .failure(unreadable("\(failure)"))
        }
    }

    private func unreadable(_ reason: String) -> URLError {
        LoadFailure.make(.cannotOpenFile, core?.originalRequest?.url, "The answer cannot be read: \(reason)")
    }

    private func end(_ error: (any Error)?) {
        let completion = state.withLock { state in
            defer { state.completion = nil }
            return state.completion
        }
        completion?(error)
    }

    private static let pieceSize = 256 * 1024
}
