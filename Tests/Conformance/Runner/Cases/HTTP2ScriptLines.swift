// The lines of a case about what a server does on a connection of HTTP/2: frames of any kind at any moment, right and
// wrong, and every kind of end.
//
// Must not know: files, drivers and running servers. docs/conformance-cases.md.

import URLLoadingLoopbackServer
import URLLoadingWire

/// What a server does on connections of HTTP/2 from their beginning.
struct HTTP2ScriptLine: Sendable {
    let server: String
    /// Counted from 1; nil is every connection that no other line is about.
    let connection: Int?
    /// Whether nothing else is sent, no SETTINGS and no answers either.
    let isAlone: Bool
    var steps: [HTTP2ServerStep] = []
}

/// One step of several.
enum HTTP2ServerStep: Sendable {
    /// Frames or bytes, so many times.
    case send(HTTP2Sending, times: Int)
    /// The same, with a turn of the server's loop behind each byte.
    case sendBytewise(HTTP2Sending)
    case wait(gate: String)
    /// What needs no words of the case.
    case play(HTTP2Step)
}

/// What is sent.
enum HTTP2Sending: Sendable {
    /// Frames that hold nothing of the case's words.
    case made([UInt8])
    /// Bytes as they are.
    case raw(CaseText)
    case frame(type: UInt8, flags: UInt8, stream: UInt32, CaseText)
    case data(HTTP2Framing, CaseText)
    /// Fields, as literals that enter no table.
    case headers(HTTP2Framing, [CaseLine.Part])
    /// HEADERS with a block of these bytes.
    case block(HTTP2Framing, CaseText)
}

/// How a part of a message is put into frames.
struct HTTP2Framing: Sendable {
    let stream: UInt32
    var endsStream = false
    var padding: UInt8?
    /// How many frames a block is cut into.
    var frames = 1
}

/// Reads them.
enum HTTP2ScriptLines {
    /// `@SERVER CONNECTION alone`, what comes behind `<<h2`.
    static func script(_ rest: Substring) throws(CaseFault) -> HTTP2ScriptLine {
        var line = try CaseLine(rest)
        let server = line.takeServer()
        let connection = line.words.first.flatMap { Int($0) }
        if connection != nil { _ = line.takeWord() }
        let isAlone = line.take(["alone"]) != nil
        try line.finish(parts: false)
        return HTTP2ScriptLine(server: server ?? "a", connection: connection, isAlone: isAlone)
    }

    /// The steps of a line, with semicolons between them.
    static func steps(_ rest: Substring) throws(CaseFault) -> [HTTP2ServerStep] {
        var steps: [HTTP2ServerStep] = []
        for text in rest.split(separator: " ; ") {
            var line = try CaseLine(text)
            steps.append(try step(line.takeWord("a step"), &line))
        }
        guard !steps.isEmpty else { throw CaseFault("a step is missing") }
        return steps
    }

    private static func step(_ word: String, _ line: inout CaseLine) throws(CaseFault) -> HTTP2ServerStep {
        switch word {
        case "times":
            let count: Int = try line.takeNumber("how many times")
            return .send(try sending(line.takeWord("what is sent"), &line), times: count)
        case "bytewise": return .sendBytewise(try sending(line.takeWord("what is sent"), &line))
        case "wait":
            let gate = try line.takeWord("the gate's name")
            try line.finish(parts: false)
            return .wait(gate: gate)
        default:
            guard let step = try playable(word, &line) else { return .send(try sending(word, &line), times: 1) }
            try line.finish(parts: false)
            return .play(step)
        }
    }

    private static func playable(_ word: String, _ line: inout CaseLine) throws(CaseFault) -> HTTP2Step? {
        switch word {
        case "rst":
            let stream: UInt32 = try line.takeNumber("the stream")
            return .resetStream(stream, try HTTP2Words.code(line.takeWord("the code")))
        case "goaway":
            let code = try HTTP2Words.code(line.takeWord("the code"))
            return .goAway(code, last: line.words.isEmpty ? nil : try line.takeNumber("the last stream"))
        case "until": return .until(try moment(&line))
        case "stop-reading": return .stopReading
        case "read": return .startReading
        case "half-close": return .halfClose
        case "close": return .close
        case "drop": return .drop
        case "reset": return .reset
        default: return nil
        }
    }

    private static func moment(_ line: inout CaseLine) throws(CaseFault) -> HTTP2Moment {
        switch line.takeWord() {
        case "heads": return .heads(try line.takeNumber("how many"))
        case "requests": return .requests(try line.takeNumber("how many"))
        case "answers": return .answers(try line.takeNumber("how many"))
        case "received": return .received(try line.takeNumber("how many bytes"), on: try line.takeNumber("the stream"))
        case "sent": return .sent(try line.takeNumber("how many bytes"), on: try line.takeNumber("the stream"))
        case "frames":
            let count: Int = try line.takeNumber("how many")
            let kind = try HTTP2FrameKind(line.takeWord("the frame's type"))
            guard let type = HTTP2FrameType(rawValue: kind.type) else {
                throw CaseFault("only frames of a known type are waited for")
            }
            return kind.isAcknowledgement ? .acknowledgements(type, count) : .frames(type, count)
        case "end": return .end
        default: throw CaseFault("a script waits for heads, requests, answers, received, sent, frames or end")
        }
    }

    // MARK: What is sent

    private static func sending(_ word: String, _ line: inout CaseLine) throws(CaseFault) -> HTTP2Sending {
        switch word {
        case "settings":
            var entries: [(identifier: UInt16, value: UInt32)] = []
            while let word = line.takeWord() { entries.append(try setting(word)) }
            try line.finish(parts: false)
            return .made(HTTP2Frames.settings(entries))
        case "ack":
            try line.finish(parts: false)
            return .made(HTTP2Frames.settingsAcknowledgement)
        case "window":
            let (stream, increment): (UInt32, UInt32) = (
                try line.takeNumber("the stream"), try line.takeNumber("the increment")
            )
            try line.finish(parts: false)
            return .made(HTTP2Frames.windowUpdate(increment, on: stream))
        case "ping", "pong":
            let kind = try HTTP2FrameKind(word)
            let flags = kind.isAcknowledgement ? HTTP2FrameFlags.acknowledgement : 0
            return .frame(type: kind.type, flags: flags, stream: 0, try payload(line, or: #"\0\0\0\0\0\0\0\0"#))
        case "frame":
            let kind = try HTTP2FrameKind(line.takeWord("the frame's type"))
            let flags: UInt8 = try line.takeNumber("the frame's flags", radix: 16)
            return .frame(type: kind.type, flags: flags, stream: try line.takeNumber("the stream"), try payload(line))
        case "raw": return .raw(try payload(line))
        case "data": return .data(try framing(&line, cuts: false), try payload(line))
        case "block": return .block(try framing(&line), try payload(line))
        case "headers":
            let framing = try framing(&line)
            try line.finish(parts: true)
            guard let field = line.parts.first(where: { $0.value == nil }) else { return .headers(framing, line.parts) }
            throw CaseFault("a block has no !\(field.name)")
        default: throw CaseFault("\"\(word)\" is no step of HTTP/2")
        }
    }

    private static func payload(_ line: CaseLine, or usual: String = "") throws(CaseFault) -> CaseText {
        try line.finish(body: true)
        guard let body = line.body else { return try CaseText(usual) }
        return body
    }

    private static func framing(_ line: inout CaseLine, cuts: Bool = true) throws(CaseFault) -> HTTP2Framing {
        var framing = HTTP2Framing(stream: try line.takeNumber("the stream"))
        while let word = line.takeWord() {
            if word == "end" {
                framing.endsStream = true
            } else if word.hasPrefix("pad="), let padding = UInt8(word.dropFirst(4)) {
                framing.padding = padding
            } else if cuts, word.hasPrefix("frames="), let frames = Int(word.dropFirst(7)), frames > 0 {
                framing.frames = frames
            } else {
                throw CaseFault("\"\(word)\" is not understood")
            }
        }
        return framing
    }

    private static func setting(_ word: String) throws(CaseFault) -> (identifier: UInt16, value: UInt32) {
        guard let equals = word.firstIndex(of: "="), let value = UInt32(word[word.index(after: equals)...]) else {
            throw CaseFault("\"\(word)\" gives no setting a value")
        }
        return (try HTTP2Words.setting(word[..<equals]), value)
    }
}
