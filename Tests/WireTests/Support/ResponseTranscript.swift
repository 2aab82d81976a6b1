// Runs `ResponseDecoder` and `ExchangeMachine` over a vector and writes down what they say, one line an event.

import URLLoadingTestSupport
import URLLoadingWire

/// What the decoder says about a connection's bytes, as text.
struct ResponseTranscript: ~Copyable {
    private(set) var events: [String] = []
    private(set) var left = 0
    private var decoder: ResponseDecoder
    private var machine = ExchangeMachine()
    private var body: [UInt8] = []
    private var requests: [ExpectedResponse]
    private let showsFields: Bool
    private var isOver = false

    /// The events of a vector whose bytes come in these pieces.
    static func run(_ vector: Vector, _ pieces: [ArraySlice<UInt8>], behind: [UInt8] = []) -> [String] {
        var transcript = ResponseTranscript(vector)
        for piece in pieces { transcript.receive(Array(piece)) }
        if !behind.isEmpty { transcript.receive(behind) }
        if vector.has("close") { transcript.close() }
        if transcript.left > 0 { transcript.events.append("left \(transcript.left)") }
        return transcript.events
    }

    private init(_ vector: Vector) {
        decoder = ResponseDecoder(limits: vector.limits)
        showsFields = vector.has("fields")
        requests = vector.options("to").map { name in
            switch name {
            case "HEAD": .toHEAD
            case "CONNECT": .toCONNECT
            case "UPGRADE": .toUpgrade
            default: .toOther
            }
        }
        if requests.isEmpty { requests = [.toOther] }
        beginNext()
    }

    private mutating func beginNext() {
        guard !requests.isEmpty else {
            isOver = true
            return
        }
        decoder.begin(requests.removeFirst())
        machine.nextExchange()
        machine.requestHeadSent(keepAliveAllowed: true)
        machine.requestBodyFinished()
    }

    private mutating func receive(_ bytes: [UInt8]) {
        var offset = 0
        do throws(WireError) {
            while !isOver {
                let step = try decoder.next(bytes.span.bytes, offset: &offset)
                if step == .needMore {
                    if offset != bytes.count { events.append("BUG: needMore with bytes unused") }
                    break
                }
                note(step, bytes)
            }
        } catch {
            fail(error)
            return
        }
        if events.last?.hasPrefix("error") != true { left += bytes.count - offset }
    }

    private mutating func close() {
        guard !isOver else { return }
        do throws(WireError) {
            note(try decoder.endOfStream(), [])
        } catch {
            fail(error)
        }
    }

    private mutating func note(_ step: ResponseDecoder.Step, _ bytes: [UInt8]) {
        switch step {
        case .needMore: break
        case .informational(let head):
            note("informational", head)
            machine.responseHead(head, framing: .none, persistence: Persistence(head))
        case .head(let head, let framing):
            note("head", head, " \(framing)")
            machine.responseHead(head, framing: framing, persistence: decoder.persistence)
        case .body(let range):
            if range.isEmpty { events.append("BUG: empty body range") }
            body += bytes[range]
        case .end(let trailers):
            flushBody()
            for index in 0..<trailers.count { note("trailer", trailers, index) }
            machine.responseEnded()
            events.append(machine.canReuse ? "end, reusable" : "end, not reusable")
            beginNext()
        case .switched:
            events.append("switched")
            isOver = true
        }
    }

    private mutating func note(_ event: String, _ head: ResponseHead, _ framing: String = "") {
        let reason = VectorText.escape(head.reason)
        events.append("\(event) \(head.status) 1.\(head.version.minor) \"\(reason)\"" + framing)
        guard showsFields else { return }
        for index in 0..<head.fields.count { note("field", head.fields, index) }
    }

    private mutating func note(_ event: String, _ fields: Fields, _ index: Int) {
        let value = VectorText.escape(fields.value(at: index))
        events.append("\(event) \(fields.name(at: index)):" + (value.isEmpty ? "" : " " + value))
    }

    private mutating func flushBody() {
        if !body.isEmpty { events.append("body " + VectorText.escape(body)) }
        body = []
    }

    private mutating func fail(_ error: WireError) {
        guard !isOver else { return }
        flushBody()
        events.append("error \(error.kind): \(error)")
        isOver = true
    }
}

extension Vector {
    /// The standard budgets, changed by the vector's `@ limit` lines.
    var limits: WireLimits {
        var limits = WireLimits.standard
        for option in options("limit") {
            let words = option.split(separator: " ")
            let number = Int(words.last ?? "") ?? 0
            switch words.first {
            case "line": limits.lineBytes = number
            case "head": limits.headBytes = number
            case "fields": limits.fieldCount = number
            case "chunkLine": limits.chunkLineBytes = number
            case "trailers": limits.trailerBytes = number
            case "informational": limits.informationalCount = number
            default: break
            }
        }
        return limits
    }

    /// The events as they must be written down, in the one spelling that `escape` gives bytes.
    var expectedEvents: [String] { events.map { VectorText.escape(VectorText.unescape($0)) } }
}
