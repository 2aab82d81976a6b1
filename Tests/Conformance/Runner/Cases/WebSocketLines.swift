// The lines of a case about web sockets: what a server does on one, what the client does, what it is to see.
//
// Must not know: files, drivers and servers. docs/conformance-cases.md.

import URLLoadingTestSupport

/// What a server does on a web socket, one step of several.
enum ServerStep: Sendable {
    /// A message.
    case send(isText: Bool, CaseText)
    /// A frame: its first byte, and its payload; in one piece or byte by byte.
    case frame(UInt8, CaseText, isBytewise: Bool)
    /// Bytes as they are.
    case raw(CaseText)
    /// A close frame; one without content where there is no code.
    case close(Int?, CaseText)
    case expectMessage(isText: Bool, CaseText)
    case expectPing(CaseText)
    case expectPong(CaseText)
    case expectClose(Int?, CaseText)
    case expectEnd
    case wait(gate: String)
    case pause(milliseconds: Int)
    case end, drop, reset
}

/// What the client does on its web socket, and what that must come to.
enum WebSocketLine: Sendable {
    case open(url: CaseText, options: [(name: String, value: String)], fields: [CaseLine.Part])
    /// The handshake was answered as it should be, with this protocol or none.
    case opened(String?)
    /// It was not: the error, and the status of the response.
    case refused(String, after: Int?)
    case send(isText: Bool, CaseText)
    case gotMessage(isText: Bool, CaseText)
    case gotClose(Int, CaseText)
    case gotError(String)
    case ping
    case close(Int, CaseText)
    /// What the web socket has ended with, after `close`.
    case closed(Int, CaseText)

    /// Whether the line can make its case fail.
    var isExpectation: Bool {
        switch self {
        case .open, .send, .close: false
        case .opened, .refused, .gotMessage, .gotClose, .gotError, .ping, .closed: true
        }
    }
}

/// Reads them.
enum WebSocketLines {
    /// `@SERVER/target STYLE | Name: value | !Name`, what comes behind `<ws`.
    static func styles(_ line: inout CaseLine) throws(CaseFault) -> Set<String> {
        var styles: Set<String> = []
        while let word = line.take(["echo", "silent", "deaf", "deflate"]) { styles.insert(word) }
        try line.finish(parts: true)
        return styles
    }

    /// The steps of a line, with semicolons between them.
    static func steps(_ rest: Substring) throws(CaseFault) -> [ServerStep] {
        var steps: [ServerStep] = []
        for text in rest.split(separator: " ; ") { steps.append(try step(text)) }
        guard !steps.isEmpty else { throw CaseFault("a step is missing") }
        return steps
    }

    private static func step(_ text: Substring) throws(CaseFault) -> ServerStep {
        var rest = text
        switch word(&rest) {
        case "text": return .send(isText: true, try CaseText(rest))
        case "binary": return .send(isText: false, try CaseText(rest))
        case "frame": return .frame(try byte(&rest), try CaseText(rest), isBytewise: false)
        case "bytewise": return .frame(try byte(&rest), try CaseText(rest), isBytewise: true)
        case "raw": return .raw(try CaseText(rest))
        case "ping": return .frame(0x89, try CaseText(rest), isBytewise: false)
        case "pong": return .frame(0x8A, try CaseText(rest), isBytewise: false)
        case "close": return .close(try code(&rest), try CaseText(rest))
        case "expect": return try expectation(rest)
        case "wait" where !rest.isEmpty: return .wait(gate: String(rest))
        case "pause":
            guard let milliseconds = Int(rest) else { throw CaseFault("the pause has no length") }
            return .pause(milliseconds: milliseconds)
        case "end" where rest.isEmpty: return .end
        case "drop" where rest.isEmpty: return .drop
        case "reset" where rest.isEmpty: return .reset
        default: throw CaseFault("\"\(text)\" is no step of a web socket")
        }
    }

    private static func expectation(_ text: Substring) throws(CaseFault) -> ServerStep {
        var rest = text
        switch word(&rest) {
        case "text": return .expectMessage(isText: true, try CaseText(rest))
        case "binary": return .expectMessage(isText: false, try CaseText(rest))
        case "ping": return .expectPing(try CaseText(rest))
        case "pong": return .expectPong(try CaseText(rest))
        case "close": return .expectClose(try code(&rest), try CaseText(rest))
        case "end" where rest.isEmpty: return .expectEnd
        default: throw CaseFault("\"\(text)\" is nothing that a web socket can be expected to get")
        }
    }

    /// What comes behind `ws`.
    static func line(_ text: Substring) throws(CaseFault) -> WebSocketLine {
        var rest = text
        switch word(&rest) {
        case "open": return try open(rest)
        case "opened": return .opened(rest.isEmpty ? nil : String(rest))
        case "refused":
            var line = try CaseLine(rest)
            let name = try line.takeWord("the error's name")
            let status = line.take(["after"]) == nil ? nil : line.takeWord().flatMap { Int($0) }
            try line.finish(parts: false)
            return .refused(name, after: status)
        case "send":
            guard let isText = kind(&rest) else { throw CaseFault("a message is text or binary") }
            return .send(isText: isText, try CaseText(rest))
        case "got": return try got(rest)
        case "ping" where rest.isEmpty: return .ping
        case "close": return .close(try requiredCode(&rest), try CaseText(rest))
        case "closed": return .closed(try requiredCode(&rest), try CaseText(rest))
        default: throw CaseFault("\"\(text)\" is nothing that is done with a web socket")
        }
    }

    private static func open(_ rest: Substring) throws(CaseFault) -> WebSocketLine {
        var line = try CaseLine(rest)
        let url = try CaseText(line.takeWord("the URL"))
        var options: [(name: String, value: String)] = []
        while let word = line.takeWord() {
            guard let equals = word.firstIndex(of: "=") else { throw CaseFault("\"\(word)\" is no option") }
            options.append((String(word[..<equals]), String(word[word.index(after: equals)...])))
        }
        if let other = options.first(where: { !["session", "protocols", "max"].contains($0.name) }) {
            throw CaseFault("a web socket has no option \(other.name)")
        }
        return .open(url: url, options: options, fields: line.parts)
    }

    private static func got(_ text: Substring) throws(CaseFault) -> WebSocketLine {
        var rest = text
        if let isText = kind(&rest) { return .gotMessage(isText: isText, try CaseText(rest)) }
        switch word(&rest) {
        case "closed": return .gotClose(try requiredCode(&rest), try CaseText(rest))
        case "error" where !rest.isEmpty: return .gotError(String(rest))
        default: throw CaseFault("a web socket gets text, binary, closed or error")
        }
    }

    // MARK: Parts

    /// Takes a word and the space behind it.
    private static func word(_ rest: inout Substring) -> Substring {
        let word = rest.prefix { $0 != " " }
        rest = rest.dropFirst(word.count + 1)
        return word
    }

    private static func kind(_ rest: inout Substring) -> Bool? {
        var after = rest
        let word = word(&after)
        guard word == "text" || word == "binary" else { return nil }
        rest = after
        return word == "text"
    }

    private static func byte(_ rest: inout Substring) throws(CaseFault) -> UInt8 {
        guard let byte = UInt8(word(&rest), radix: 16) else { throw CaseFault("a frame's first byte is missing") }
        return byte
    }

    private static func code(_ rest: inout Substring) throws(CaseFault) -> Int? {
        guard !rest.isEmpty else { return nil }
        return try requiredCode(&rest)
    }

    private static func requiredCode(_ rest: inout Substring) throws(CaseFault) -> Int {
        guard let code = Int(word(&rest)) else { throw CaseFault("the code of the close frame is missing") }
        return code
    }
}
