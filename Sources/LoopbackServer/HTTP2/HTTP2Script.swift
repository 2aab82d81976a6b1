// What a server can be told to do on a connection of HTTP/2 besides answering, or in place of it: frames of any kind at
// any moment, and every kind of end. Values only; HTTP2ScriptPlayer plays them.
//
// Two ways. Beside the server: it answers as ever, and the steps come in between. What they send raw it knows nothing
// of: a stream whose END_STREAM was sent raw stays open to it, and raw DATA is not counted. Instead of the server:
// nothing at all is sent but what the steps say, no SETTINGS and no acknowledgement either, and no route is asked.
//
// A route can answer with steps, too (`ServerResponse.http2`): they are played beside the server from then on, and its
// stream stays without any other answer.

import URLLoadingWire

/// Steps for a connection.
package struct HTTP2Script: Sendable {
    let steps: [HTTP2Step]
    /// Whether the server answers meanwhile.
    let isBesideServer: Bool

    /// Steps beside what the server does anyway.
    package static func beside(_ steps: [HTTP2Step]) -> HTTP2Script {
        HTTP2Script(steps: steps, isBesideServer: true)
    }

    /// Steps in place of a server.
    package static func instead(_ steps: [HTTP2Step]) -> HTTP2Script {
        HTTP2Script(steps: steps, isBesideServer: false)
    }
}

/// One step on a connection of HTTP/2, played in order.
package enum HTTP2Step: Sendable {
    /// Raw bytes, as they are, so many times; `HTTP2Frames` makes some.
    case send([UInt8], times: Int = 1)
    /// A stream is reset.
    case resetStream(UInt32, HTTP2ErrorCode)
    /// A GOAWAY, by default for all streams above the highest that came; the server serves those that are
    /// left, and ends the connection when there are none. With the largest number it is only announced, and
    /// streams are taken as before.
    case goAway(HTTP2ErrorCode = .noError, last: UInt32? = nil)
    /// Nothing until this has happened.
    case until(HTTP2Moment)
    /// Nothing until the test opens the gate.
    case wait(ServerGate)
    /// Nothing for a while.
    case delay(Duration)
    /// What the client sends from here on stays in the kernel.
    case stopReading
    /// It is read again.
    case startReading
    /// Ends the server's side of the TCP connection, under TLS without a close_notify, and keeps reading.
    case halfClose
    /// Closes in good order, but without a GOAWAY.
    case close
    /// Closes the TCP connection without a close_notify.
    case drop
    /// Closes with RST in place of FIN; what the client has not read yet may be lost.
    case reset
}

/// Something that has happened on a connection once there was so much of it, counted from the connection's beginning.
package enum HTTP2Moment: Sendable {
    /// So many heads of requests have come. The steps that waited for it come before what a route answers.
    case heads(Int)
    /// So many requests have come whole. The steps that waited for it come before what a route answers.
    case requests(Int)
    /// So many bytes of the body of a request have come.
    case received(Int64, on: UInt32)
    /// So many bytes of the body of an answer have been written.
    case sent(Int64, on: UInt32)
    /// So many answers have been written whole.
    case answers(Int)
    /// So many frames of a type have come, acknowledgements not counted.
    case frames(HTTP2FrameType, Int)
    /// So many acknowledgements of SETTINGS or PING have come.
    case acknowledgements(HTTP2FrameType, Int)
    /// The client has ended its side.
    case end
}

extension HTTP2Step {
    /// The steps of a script for HTTP/1.1 that means the same over HTTP/2: silence, and the end of the connection. Nil
    /// where it has bytes of its own, or other things that are about one exchange on one connection.
    static func steps(_ script: [ScriptStep]) -> [HTTP2Step]? {
        var steps: [HTTP2Step] = []
        for step in script {
            switch step {
            case .delay(let duration): steps.append(.delay(duration))
            case .wait(let gate): steps.append(.wait(gate))
            case .waitForClose: steps.append(.until(.end))
            case .close: steps.append(.close)
            case .drop: steps.append(.drop)
            case .reset: steps.append(.reset)
            case .send, .sendOneByteAtATime, .sendGenerated, .sendGeneratedChunks, .waitForRequest, .halfClose,
                .closeNotify:
                return nil
            }
        }
        return steps
    }
}
