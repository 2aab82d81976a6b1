// Runs `RequestDecoder` over a vector and writes down what it says, one line an event.

import URLLoadingTestSupport
import URLLoadingWire

/// What the decoder says about a connection's bytes, as text.
struct RequestTranscript: ~Copyable {
    private(set) var events: [String] = []
    private var decoder: RequestDecoder
    private var body: [UInt8] = []
    private let showsFields: Bool
    private var hasFailed = false

    /// The events of a vector whose bytes come in these pieces.
    static func run(_ vector: Vector, _ pieces: [ArraySlice<UInt8>]) -> [String] {
        var transcript = RequestTranscript(vector)
        for piece in pieces { transcript.receive(Array(piece)) }
        if vector.has("close") { transcript.close() }
        return transcript.events
    }

    private init(_ vector: Vector) {
        decoder = RequestDecoder(limits: vector.limits)
        showsFields = vector.has("fields")
    }

    private mutating func receive(_ bytes: [UInt8]) {
        var offset = 0
        do throws(WireError) {
            while true {
                let step = try decoder.next(bytes.span.bytes, offset: &offset)
                if step == .needMore { break }
                note(step, bytes)
            }
        } catch {
            fail(error)
        }
    }

    private mutating func close() {
        do throws(WireError) {
            note(try decoder.endOfStream(), [])
        } catch {
            fail(error)
        }
    }

    private mutating func note(_ step: RequestDecoder.Step, _ bytes: [UInt8]) {
        switch step {
        case .needMore: break
        case .head(let head, let framing):
            events.append("head \(head.method) \(head.target) 1.\(head.version.minor) \(framing)")
            guard showsFields else { return }
            for index in 0..<head.fields.count {
                events.append("field \(head.fields.name(at: index)): \(head.fields.value(at: index))")
            }
        case .body(let range): body += bytes[range]
        case .end:
            flushBody()
            events.append("end")
        }
    }

    private mutating func flushBody() {
        if !body.isEmpty { events.append("body " + VectorText.escape(body)) }
        body = []
    }

    private mutating func fail(_ error: WireError) {
        guard !hasFailed else { return }
        hasFailed = true
        flushBody()
        events.append("error \(error.kind): \(error)")
    }
}
