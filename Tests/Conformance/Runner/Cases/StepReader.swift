// What one line of a case asks for.
//
// Must not know: files, drivers and servers. docs/conformance-cases.md.

import URLLoadingTestSupport

/// Reads lines of cases.
enum StepReader {
    /// The action of a line; `answersBefore` is how many answers came before it in its case, `previous` what
    /// the line before asks for.
    static func action(of text: Substring, answersBefore: Int, behind previous: Action?) throws(CaseFault) -> Action {
        let word = text.prefix { $0 != " " }
        let rest = text.dropFirst(word.count).drop { $0 == " " }
        switch word {
        case "cert": return try certificate(rest)
        case "server": return .declareServer(try declaration(rest))
        case "proxy": return .declareProxy(try declaration(rest))
        case "<", "<*": return try answer(rest, number: answersBefore + 1, isForAll: word == "<*")
        case "<<", "<<*": return try rawAnswer(rest, number: answersBefore + 1, isForAll: word == "<<*")
        case "<ws", "<ws*": return try webSocket(rest, number: answersBefore + 1, isForAll: word == "<ws*")
        case "<h2", "<h2*": return try http2(rest, number: answersBefore + 1, isForAll: word == "<h2*")
        case "<<h2": return .http2Script(try HTTP2ScriptLines.script(rest))
        case "+": return try steps(rest, behind: previous)
        case "ws": return .webSocket(try WebSocketLines.line(rest))
        case "session": return try session(rest)
        case "close": return .closeSession(name: try single(rest, "the session's name"))
        case ">": return .request(try request(rest, label: nil))
        case "start":
            let label = rest.prefix { $0 != " " }
            guard !label.isEmpty else { throw CaseFault("the request's label is missing") }
            return .request(try request(rest.dropFirst(label.count), label: String(label)))
        case "finish": return .finish(label: try single(rest, "the request's label"))
        case "cancel": return .cancel(label: try single(rest, "the request's label"))
        case "do": return try command(rest)
        case "set": return try storeCookies(rest)
        case "sends": return try cookieField(rest)
        case "open": return .open(gate: try single(rest, "the gate's name"))
        case "until": return try until(rest)
        case "=": return .result(try result(rest))
        case "?": return try member(rest)
        case "^": return try received(rest)
        case "^proxy": return .asked(try asked(rest))
        case "proof": return .proof(try proof(rest))
        case "^h2": return .receivedHTTP2(try HTTP2ReceivedLines.line(rest))
        case "connections": return try connections(rest)
        default: throw CaseFault("\"\(word)\" begins no line")
        }
    }

    // MARK: What there is

    private static func certificate(_ rest: Substring) throws(CaseFault) -> Action {
        var line = try CaseLine(rest)
        let name = try line.takeWord("the certificate's name")
        guard let kind = line.take(["authority", "server", "client"]) else {
            throw CaseFault("a certificate is for an authority, a server or a client")
        }
        try line.finish(parts: true)
        return .certificate(CertificateLine(name: name, kind: kind, settings: line.parts))
    }

    private static func declaration(_ rest: Substring) throws(CaseFault) -> DeclarationLine {
        var line = try CaseLine(rest)
        let name = try line.takeWord("a name")
        try line.finish(parts: true)
        return DeclarationLine(name: name, settings: line.parts)
    }

    private static func answer(_ rest: Substring, number: Int, isForAll: Bool) throws(CaseFault) -> Action {
        var line = try CaseLine(rest)
        let (method, server, target) = pattern(&line)
        guard let status = line.takeWord().flatMap({ Int($0) }), (100...999).contains(status) else {
            throw CaseFault("the answer's status is missing")
        }
        var style: Set<String> = []
        while let word = line.take(["chunked", "closing", "until-close"]) { style.insert(word) }
        try line.finish(parts: true, body: true)
        let content = AnswerLine.Content.response(
            status: status, style: style, fields: line.parts, body: line.body)
        return .answer(
            AnswerLine(
                number: number, method: method, server: server, target: target, isForAll: isForAll, content: content))
    }

    /// Bytes are taken as they stand, so only a target or a server in front of them is looked for.
    private static func rawAnswer(_ rest: Substring, number: Int, isForAll: Bool) throws(CaseFault) -> Action {
        var (server, target): (String?, String?) = (nil, nil)
        var bytes = rest
        let word = rest.prefix { $0 != " " }
        if word.first == "@" {
            (server, target) = split(word.dropFirst())
            bytes = rest.dropFirst(word.count + 1)
        }
        return .answer(
            AnswerLine(
                number: number, method: nil, server: server, target: target, isForAll: isForAll,
                content: .raw(try CaseText(bytes))))
    }

    private static func webSocket(_ rest: Substring, number: Int, isForAll: Bool) throws(CaseFault) -> Action {
        var line = try CaseLine(rest)
        let (_, server, target) = pattern(&line)
        let styles = try WebSocketLines.styles(&line)
        return .answer(
            AnswerLine(
                number: number, method: "GET", server: server, target: target, isForAll: isForAll,
                content: .webSocket(styles: styles, fields: line.parts, steps: [])))
    }

    private static func http2(_ rest: Substring, number: Int, isForAll: Bool) throws(CaseFault) -> Action {
        var line = try CaseLine(rest)
        let (method, server, target) = pattern(&line)
        try line.finish(parts: false)
        return .answer(
            AnswerLine(
                number: number, method: method, server: server, target: target, isForAll: isForAll,
                content: .http2(steps: [])))
    }

    /// Steps of a web socket or of HTTP/2, as the line before has it.
    private static func steps(_ rest: Substring, behind previous: Action?) throws(CaseFault) -> Action {
        switch previous {
        case .serverSteps: return .serverSteps(try WebSocketLines.steps(rest))
        case .http2Script, .http2Steps: return .http2Steps(try HTTP2ScriptLines.steps(rest))
        case .answer(let answer):
            switch answer.content {
            case .webSocket: return .serverSteps(try WebSocketLines.steps(rest))
            case .http2: return .http2Steps(try HTTP2ScriptLines.steps(rest))
            case .response, .raw: break
            }
        default: break
        }
        throw CaseFault("steps stand behind \"<ws\", \"<h2\" and \"<<h2\"")
    }

    /// `METHOD` and `@server/target`, each of which may be left out.
    private static func pattern(_ line: inout CaseLine) -> (method: String?, server: String?, target: String?) {
        var method: String?
        if let word = line.words.first, word.allSatisfy({ $0.isUppercase }) { method = line.takeWord() }
        guard let word = line.words.first, word.first == "@" || word.first == "/" else { return (method, nil, nil) }
        _ = line.takeWord()
        let (server, target) = split(word.first == "@" ? word.dropFirst() : word)
        return (method, server, target)
    }

    private static func split(_ word: Substring) -> (server: String?, target: String?) {
        let server = word.prefix { $0 != "/" }
        let target = word.dropFirst(server.count)
        return (server.isEmpty ? nil : String(server), target.isEmpty ? nil : String(target))
    }

    // MARK: What the client does

    private static func session(_ rest: Substring) throws(CaseFault) -> Action {
        let name = rest.prefix { $0 != "{" }.split(separator: " ")
        guard name.count <= 1 else { throw CaseFault("a session's name is one word") }
        return .session(name: name.first.map(String.init) ?? "s", config: try json(rest.drop { $0 != "{" }))
    }

    private static func request(_ rest: Substring, label: String?) throws(CaseFault) -> RequestLine {
        var line = try CaseLine(rest)
        let method = try line.takeWord("the method")
        let url = try CaseText(line.takeWord("the URL"))
        var (session, options): (String?, [JSONMember]) = (nil, [])
        while let word = line.takeWord() {
            guard let equals = word.firstIndex(of: "=") else { throw CaseFault("\"\(word)\" is no option") }
            let (name, text) = (String(word[..<equals]), word[word.index(after: equals)...])
            if name == "session" {
                session = String(text)
            } else {
                options.append(JSONMember(name: name, value: (try? json(text)) ?? .string(String(text))))
            }
        }
        return RequestLine(
            label: label, method: method, url: url, session: session, options: options, fields: line.parts,
            body: line.body)
    }

    private static func command(_ rest: Substring) throws(CaseFault) -> Action {
        let op = rest.prefix { $0 != " " }
        guard !op.isEmpty else { throw CaseFault("the operation is missing") }
        let members = rest.dropFirst(op.count).drop { $0 == " " }
        return .command(op: String(op), members: members.isEmpty ? [:] : try json(members))
    }

    private static func storeCookies(_ rest: Substring) throws(CaseFault) -> Action {
        let url = rest.prefix { $0 != " " }
        return .storeCookie(url: String(url), field: try CaseText(rest.dropFirst(url.count + 1)))
    }

    private static func cookieField(_ rest: Substring) throws(CaseFault) -> Action {
        let url = rest.prefix { $0 != " " }
        let value = rest.dropFirst(url.count + 1)
        guard !value.isEmpty else { throw CaseFault("the value is missing; - stands for none") }
        let text = value == "-" ? nil : String(decoding: try plainBytes(value), as: UTF8.self)
        return .sends(url: String(url), value: text)
    }

    private static func until(_ rest: Substring) throws(CaseFault) -> Action {
        var line = try CaseLine(rest)
        guard let count = line.takeWord().flatMap({ Int($0) }) else {
            throw CaseFault("a number of requests is missing")
        }
        let server = line.takeWord() ?? "a"
        try line.finish(parts: false)
        return .until(requests: count, server: server)
    }

    // MARK: What is expected

    private static func result(_ rest: Substring) throws(CaseFault) -> ResultLine {
        var line = try CaseLine(rest)
        let word = try line.takeWord("a status, \"answer\" or \"error\"")
        if word == "answer" {
            let number = try line.takeWord("the answer's number")
            try line.finish(parts: true)
            return ResultLine(end: .status(200), fields: line.parts, body: try CaseText("answer \(number)"))
        }
        if let status = Int(word) {
            try line.finish(parts: true, body: true)
            return ResultLine(end: .status(status), fields: line.parts, body: line.body)
        }
        guard word == "error" else { throw CaseFault("\"\(word)\" is no end of a request") }
        let name = try line.takeWord("the error's name")
        var status: Int?
        if line.take(["after"]) != nil {
            status = line.takeWord().flatMap { Int($0) }
            if status == nil { throw CaseFault("a status is missing behind \"after\"") }
        }
        try line.finish(parts: true, body: true)
        return ResultLine(end: .error(name, after: status), fields: line.parts, body: line.body)
    }

    private static func member(_ rest: Substring) throws(CaseFault) -> Action {
        let path = rest.prefix { $0 != " " }
        let value = rest.dropFirst(path.count).drop { $0 == " " }
        let test: MemberTest
        if value == "absent" {
            test = .absent
        } else if value.hasPrefix("count ") {
            guard let count = Int(value.dropFirst(6)) else { throw CaseFault("the count is missing") }
            test = .count(count)
        } else if value.hasPrefix("contains ") {
            test = .contains(String(value.dropFirst(9)))
        } else {
            test = .equals(try json(value))
        }
        return .member(path: String(path), test: test)
    }

    private static func received(_ rest: Substring) throws(CaseFault) -> Action {
        if rest == "nothing" { return .receivedNothing }
        var line = try CaseLine(rest)
        let method = try line.takeWord("the method")
        let target = try CaseText(line.takeWord("the target"))
        let server = line.takeServer()
        try line.finish(parts: true, body: true)
        return .received(
            ReceivedLine(method: method, target: target, server: server, fields: line.parts, body: line.body))
    }

    private static func asked(_ rest: Substring) throws(CaseFault) -> ProxyAskLine {
        var line = try CaseLine(rest)
        let proxy = try line.takeWord("the proxy's name")
        guard let kind = line.take(["connect", "forward", "socks4", "socks5", "nothing"]) else {
            throw CaseFault("a proxy is asked to connect or forward, by socks4 or socks5, or nothing")
        }
        let target = try CaseText(line.takeWord() ?? "")
        try line.finish(parts: true)
        return ProxyAskLine(proxy: proxy, kind: kind, target: target, fields: line.parts)
    }

    private static func proof(_ rest: Substring) throws(CaseFault) -> ProofLine {
        var line = try CaseLine(rest)
        let field = line.take(["Proxy-Authorization"]) ?? "Authorization"
        let user = try CaseText(line.takeWord("the user"))
        let password = try CaseText(line.takeWord("the password"))
        try line.finish(parts: true)
        return ProofLine(user: user, password: password, field: field, parameters: line.parts)
    }

    private static func connections(_ rest: Substring) throws(CaseFault) -> Action {
        var line = try CaseLine(rest)
        guard let count = line.takeWord().flatMap({ Int($0) }) else { throw CaseFault("their number is missing") }
        let server = line.takeWord() ?? "a"
        try line.finish(parts: false)
        return .connections(count: count, server: server)
    }

    // MARK: Parts

    private static func single(_ rest: Substring, _ what: String) throws(CaseFault) -> String {
        guard !rest.isEmpty, !rest.contains(" ") else { throw CaseFault("\(what) is one word") }
        return String(rest)
    }

    private static func plainBytes(_ text: Substring) throws(CaseFault) -> [UInt8] {
        let text = try CaseText(text)
        guard text.parts.count <= 1, case .bytes(let bytes) = text.parts.first ?? .bytes([]) else {
            throw CaseFault("no words in braces can stand here")
        }
        return bytes
    }

    private static func json(_ text: Substring) throws(CaseFault) -> JSONValue {
        var parser = JSONParser(Array(text.utf8))
        do throws(JSONFault) {
            return try parser.parse()
        } catch {
            throw CaseFault("not JSON: \(error.reason) at byte \(error.offset)")
        }
    }
}
