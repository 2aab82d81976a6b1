// Plays the steps of one script on a connection of HTTP/2, as far as what they wait for has happened. It writes nothing
// by itself and knows no table: the conversation does what a step says. Confined to the server's loop.

import URLLoadingSystem
import URLLoadingWire

/// The progress of one script.
final class HTTP2ScriptPlayer {
    private unowned let conversation: HTTP2Conversation
    private let steps: [HTTP2Step]
    private var index = 0
    /// How often the bytes of the current step were sent.
    private var times = 0
    private var isStepping = false
    /// The number of the pause that it is in; nil while it is in none.
    private(set) var pause: Int?
    private lazy var timer = conversation.connection.core.reactor.makeTimer { [weak self] in self?.timeHasCome() }

    init(_ steps: [HTTP2Step], on conversation: HTTP2Conversation) {
        self.steps = steps
        self.conversation = conversation
    }

    var isOver: Bool { index == steps.count }

    /// Plays on until something has to be waited for.
    func step() {
        guard !isStepping else { return }
        isStepping = true
        defer { isStepping = false }
        while pause == nil, index < steps.count, play(steps[index]) { enterNext() }
    }

    /// What the pause has waited for has happened.
    func pauseEnded() {
        guard pause != nil else { return }
        pause = nil
        enterNext()
    }

    private func timeHasCome() {
        pauseEnded()
        conversation.flush()
    }

    private func enterNext() {
        index += 1
        times = 0
    }

    /// Plays a step; false where it is not over.
    private func play(_ step: HTTP2Step) -> Bool {
        switch step {
        case .send(let bytes, let wanted):
            while times < wanted {
                guard conversation.write(raw: bytes) else { return false }
                times += 1
            }
        case .resetStream(let stream, let code): return conversation.resetStream(stream, code)
        case .goAway(let code, let last): return conversation.goAway(code, last: last)
        case .until(let moment): return conversation.hasCome(moment)
        case .wait(let gate):
            conversation.connection.wait(for: gate, pause: beginPause())
            return false
        case .delay(let duration):
            _ = beginPause()
            timer.set(conversation.connection.core.reactor.now + duration)
            return false
        case .stopReading: conversation.isReading = false
        case .startReading: conversation.isReading = true
        case .halfClose:
            guard conversation.isDrained else { return false }
            conversation.connection.channel.stream.shutdownWrite()
        case .close: conversation.end(by: .close)
        case .drop: conversation.end(by: .drop)
        case .reset: conversation.end(by: .reset)
        }
        return true
    }

    private func beginPause() -> Int {
        let number = conversation.nextPause()
        pause = number
        return number
    }
}

extension HTTP2Conversation {
    /// Whether something has happened that a script waits for.
    fileprivate func hasCome(_ moment: HTTP2Moment) -> Bool {
        switch moment {
        case .heads(let count): counts.heads >= count
        case .requests(let count): counts.requests >= count
        case .answers(let count): counts.answers >= count
        case .received(let count, let stream):
            (exchange(ofStream: stream)?.bodyByteCount ?? counts.bodyBytes(on: stream)) >= count
        case .sent(let count, let stream): (exchange(ofStream: stream)?.sentBytes ?? 0) >= count
        case .frames(let type, let count): counts.frames(type) >= count
        case .acknowledgements(let type, let count): counts.acknowledgements(type) >= count
        case .end: counts.hasEnded
        }
    }

    fileprivate func resetStream(_ stream: UInt32, _ code: HTTP2ErrorCode) -> Bool {
        guard let exchange = exchange(ofStream: stream) else { return write(raw: HTTP2Frames.reset(stream, code)) }
        machine.cancel(exchange.id, code)
        return true
    }

    fileprivate func goAway(_ code: HTTP2ErrorCode, last: UInt32?) -> Bool {
        guard isServing else { return write(raw: HTTP2Frames.goAway(last: last ?? counts.lastStream, code)) }
        machine.goodbye(code, last: last)
        return true
    }
}
