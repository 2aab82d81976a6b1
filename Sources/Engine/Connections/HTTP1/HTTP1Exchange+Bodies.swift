// Bodies that are fed to the connection while it sends: files, streams, and everything that waits for the server's
// permission (RFC 9110 §10.1.1). Also when sending stops because the answer has come already (RFC 9112 §9.5).

import URLLoadingSystem
import URLLoadingWire

extension HTTP1Exchange {
    /// What is still to come of the request's body, after what waits in `output`.
    var feed: BodyFeed? {
        switch writing {
        case .feed(let feed): feed
        case .permission(let feed, _): feed
        case .bytes, .failed: nil
        }
    }

    /// Prepares a request's body, which follows its head or the server's permission.
    func beginBody(of owner: any ExchangeOwner) {
        let feed = owner.makeFeed(inChunks: true)
        guard owner.expectsContinue else {
            if let feed { writing = .feed(feed) }
            return
        }
        let timer = core.reactor.makeTimer { [weak connection] in connection?.exchange.continueSending() }
        timer.set(elapsed: core.reactor.elapsed + BodyFeed.longestWaitForPermission)
        writing = .permission(feed, timer)
    }

    /// The server wants the body, or says nothing for so long that it may not know how to say it (B5.40).
    func continueSending() {
        guard case .permission(let feed, _) = writing else { return }
        writing = feed.map { .feed($0) } ?? .bytes
        flush()
    }

    /// Takes what is next of the body; whether there is something to write, or more to take. `sendPart` writes a part
    /// of a file and says whether to go on.
    func feedOutput(_ sendPart: (OpenFile, Int64, Int) -> Bool) -> Bool {
        guard case .feed(let feed) = writing else { return false }
        guard turnsLeft > 0 else {
            core.reactor.later { [weak connection] in connection?.exchange.flush() }
            return false
        }
        turnsLeft -= 1
        switch feed.next() {
        case .bytes(let framing, let content, let trailingFraming):
            output.set(
                framing: framing, content: content.isEmpty ? nil : content, trailingFraming: trailingFraming)
            return true
        case .whole(let bytes):
            output.set(head: [])
            output.add(body: bytes)
            return true
        case .file(let file, let offset, let count):
            return sendPart(file, offset, count)
        case .wait:
            return false
        // With chunks trailers are bytes like others, and without there is no way for them.
        case .end, .trailers:
            writing = .bytes
            return false
        case .failed(let failure):
            fail(.body(failure))
            return false
        }
    }

    // MARK: Stopping

    /// The final answer came although the body is not out yet: it goes on only where the server may still want it
    /// (B5.42).
    func answerCameEarly() {
        let isWaiting = if case .permission = writing { true } else { false }
        guard isWaiting || course.isBodyUnwanted else { return }
        output.clear()
        feed?.close()
        dropBody()
    }

    /// The server does not do what the Expect field asks for: once more without it (RFC 9110 §10.1.1).
    func resendWithoutExpectation(_ owner: any ExchangeOwner, after head: ResponseHead) {
        abandon(isTimedOut: false)
        owner.expectationRefused(by: head, needsNewConnection: true)
    }

    /// Lets go of what was still to come of the body.
    func dropBody() {
        switch writing {
        case .feed, .permission: writing = .bytes
        case .bytes, .failed: break
        }
    }
}
