// What happens because time passes: pings, and peers that do not answer them. One timer is enough; it is set anew only
// when it would come too late, and looks when it fires whether its time has really come. RFC 9113 §6.7.

extension HTTP2ConnectionMachine {
    /// The time that was asked for by `setTimer` has come.
    package mutating func timerFired(now: Duration) {
        timer = nil
        guard phase == .running else { return }
        switch heartbeat.due(now: now, isIdle: streams.isEmpty) {
        case .nothing: break
        case .ping: writePing(now)
        case .dead: fail(.connection(.silence))
        }
    }

    /// The transport has room again after it had none, so what was written before has moved on. Bytes that are merely
    /// given to it do not count: it takes a request also where the peer is gone.
    package mutating func outputMoved(now: Duration) { heartbeat.outputMoved(now: now) }

    /// When the ping went out that waits for its answer; nil where none does.
    package var pingSentAt: Duration? { heartbeat.pingSentAt }

    /// Sends a ping, unless one is under way; whether it does.
    @discardableResult
    mutating func writePing(_ now: Duration) -> Bool {
        guard let bytes = heartbeat.ping(now: now) else { return false }
        HTTP2FrameEncoder.encodePing(bytes, isAnswer: false, into: &output)
        return true
    }

    /// The timer as it has to be, if it is not so yet.
    mutating func timerToSet() -> Action? {
        guard let wanted = heartbeat.deadline(isIdle: streams.isEmpty) else { return nil }
        if let timer, timer <= wanted { return nil }
        timer = wanted
        return .setTimer(wanted)
    }
}
