// The answering half of a connection of the server: encodes what the route says, plays it, and does what its pauses ask
// for. RFC 9112 §9.

import URLLoadingSystem
import URLLoadingWire

extension ServerConnection {
    func answer(_ response: ServerResponse, to request: ServerRequest) {
        if case .webSocket(let route) = response.body, open(route, for: request) { return }
        do {
            closesAfterAnswer = try AnswerEncoder.encode(
                response, to: request.head, body: request.body, into: &player)
        } catch {
            player.end()
            player.first += ServerResponse.unsendable(error).message() ?? []
        }
        player.begin()
        play()
    }

    /// Plays the answer until it waits for something, then looks at what has arrived meanwhile.
    func play() {
        guard !isPlaying else { return }
        isPlaying = true
        while isServing, player.isActive {
            let pause = player.play(on: channel)
            record(pause)
            guard canPlayOn(after: pause) else { break }
        }
        isPlaying = false
        serveInbox()
        readOn()
    }

    /// Does what a pause asks for; true where the answer can go on at once.
    private func canPlayOn(after pause: AnswerPlayer.Pause) -> Bool {
        switch pause {
        case .finished:
            endAnswer()
            if closesAfterAnswer { linger() }
        case .blocked, .nextRequest:
            break
        case .yielded:
            core.reactor.later { [weak self] in self?.play() }
        case .delay(let duration):
            timer.set(core.reactor.now + duration)
        case .gate(let gate):
            whenOpen(gate) { [step = player.stepNumber] in $0.gateOpened(step: step) }
        case .clientClose:
            guard inputHasEnded else { break }
            player.resume()
            return true
        case .close:
            endAnswer()
            linger()
        case .drop:
            endAnswer()
            close()
        case .reset:
            endAnswer()
            channel.stream.reset()
            close()
        case .failed:
            lost()
        }
        return false
    }

    private func endAnswer() {
        player.end()
        core.figures.update { $0.responses += 1 }
    }

    private func record(_ pause: AnswerPlayer.Pause) {
        let written = player.takeWritten()
        let isBlocked = if case .blocked = pause { true } else { false }
        record(written: written, isBlocked: isBlocked)
    }

    func record(written: Int64, isBlocked: Bool) {
        guard written > 0 || isBlocked != isCountedAsBlocked else { return }
        core.figures.update { statistics in
            statistics.bytesWritten += written
            statistics.blockedWriters += (isBlocked ? 1 : 0) - (isCountedAsBlocked ? 1 : 0)
        }
        isCountedAsBlocked = isBlocked
    }
}
