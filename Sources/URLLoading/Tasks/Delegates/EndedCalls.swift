// Async calls whose loads have ended, on their way back to the tasks that await them.
//
// Resuming a call wakes a thread of the pool, and on a busy machine that thread at once takes the loop's place. So the
// calls of a turn are resumed at its end, and several of them by one piece of work, which the pool is woken for once.
//
// A call that was made on the loop itself goes on there: it is resumed at once, which only puts it into the mailbox.
//
// Must not know: tasks, what a call has loaded.

import Foundation
import URLLoadingPolicy
import URLLoadingSystem

/// An async call that waits for its load.
struct WaitingCall: Sendable {
    let continuation: TaskContinuation
    /// Whether it was made by a task that runs on the session's loop, the first where it has several.
    let isOnLoop: Bool
}

/// An async call and what it returns or throws.
struct EndedCall: Sendable {
    /// What a call is resumed with.
    enum Answer: Sendable {
        case failure(any Error)
        case data(Data, URLResponse)
        case file(URL, URLResponse)
        case warmth(PoolMachine.Warmth)
    }

    let call: WaitingCall
    private let answer: Answer

    init(_ call: WaitingCall, _ answer: Answer) {
        self.call = call
        self.answer = answer
    }

    /// Must be called exactly once.
    consuming func resume() {
        let continuation = call.continuation
        switch answer {
        case .failure(let error): continuation.resume(throwing: error)
        case .data(let data, let response): continuation.resume(data: data, response)
        case .file(let url, let response): continuation.resume(file: url, response)
        case .warmth(let warmth): continuation.resume(warmth)
        }
    }
}

/// The calls that have ended during a turn of one loop; confined to it.
final class EndedCalls: TurnObserver {
    private static let key = ResidentKey<EndedCalls>()

    private unowned let reactor: Reactor
    // `@exclusivity(unchecked)`: never leaves its loop, and no call is resumed while the list is being changed.
    @exclusivity(unchecked) private var calls: [EndedCall] = []

    private init(reactor: Reactor) {
        self.reactor = reactor
    }

    /// Those of a loop.
    static func of(_ reactor: Reactor) -> EndedCalls {
        if let made = reactor.resident(key) { return made }
        let new = EndedCalls(reactor: reactor)
        reactor.setResident(key, new)
        return new
    }

    func add(_ call: consuming EndedCall) {
        if call.call.isOnLoop { return call.resume() }
        if calls.isEmpty { reactor.atEndOfTurn(self) }
        calls.append(call)
    }

    func turnEnded() {
        // Alone, a call is resumed without a detour, and the list keeps its memory.
        if calls.count == 1, let call = calls.popLast() { return call.resume() }
        let ended = calls
        calls = []
        // Measured: by a task the calling tasks find a thread at work; by a dispatch queue, or one by one from here,
        // ten times as many thread changes. Its priority is above theirs, since it takes no time of its own.
        Task.detached(priority: .high) {
            for call in ended { call.resume() }
        }
    }
}
