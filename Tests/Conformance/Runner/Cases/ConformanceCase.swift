// A case as it was read: values only. docs/conformance-cases.md says what each line of a file becomes.
//
// Must not know: drivers and servers.

import URLLoadingTestSupport

/// One case.
struct ConformanceCase: Sendable {
    /// The group: the number of an RFC, or a word.
    let group: String
    /// One sentence, unique in its group.
    let title: String
    /// What it proves: sections of RFCs, numbers of behaviour statements.
    let references: [String]
    /// Where it stands.
    let place: String
    let steps: [Step]
    /// Host names that lead to the loopback address.
    let hosts: Set<String>

    /// The name in lists and in the file of expected failures.
    var name: String { "\(group): \(title)" }

    /// The chapters of the behaviour statements among the references, each once: of "B16.31" it
    /// is "16", of "H4.7" "H4".
    var chapters: [String] {
        var chapters: [String] = []
        for reference in references where reference.hasPrefix("B") || reference.hasPrefix("H") {
            let chapter = String(reference.drop { $0 == "B" }.prefix { $0 != "." })
            if !chapters.contains(chapter) { chapters.append(chapter) }
        }
        return chapters
    }

    /// Whether a server is wanted that no line declares.
    var usesServer: Bool {
        steps.contains { step in
            switch step.action {
            case .answer, .request, .webSocket(.open): true
            case .declareServer(let server): server.name == "a"
            default: false
            }
        }
    }
}

/// One line of a case.
struct Step: Sendable {
    let line: Int
    let action: Action
}

/// What a line asks for.
enum Action: Sendable {
    // What there is before anything happens.
    case certificate(CertificateLine)
    case declareServer(DeclarationLine)
    case declareProxy(DeclarationLine)
    case answer(AnswerLine)
    /// What the web socket of the answer before does.
    case serverSteps([ServerStep])
    case http2Script(HTTP2ScriptLine)
    /// What is done by the script or the answer of HTTP/2 before.
    case http2Steps([HTTP2ServerStep])

    // What the client does.
    case session(name: String, config: JSONValue)
    case closeSession(name: String)
    case request(RequestLine)
    case finish(label: String)
    case cancel(label: String)
    case command(op: String, members: JSONValue)
    /// What is done with the case's web socket, or is expected of it.
    case webSocket(WebSocketLine)
    case storeCookie(url: String, field: CaseText)
    case open(gate: String)
    case until(requests: Int, server: String)

    // What is expected.
    case result(ResultLine)
    case member(path: String, test: MemberTest)
    /// The Cookie field of a request to a URL.
    case sends(url: String, value: String?)
    case received(ReceivedLine)
    case receivedNothing
    case proof(ProofLine)
    case connections(count: Int, server: String)
    case asked(ProxyAskLine)
    case receivedHTTP2(HTTP2ReceivedLine)
}

/// A certificate to be made.
struct CertificateLine: Sendable {
    let name: String
    let kind: String
    let settings: [CaseLine.Part]
}

/// A server or a proxy.
struct DeclarationLine: Sendable {
    let name: String
    let settings: [CaseLine.Part]
}

/// What a server answers to one request, or to all that fit.
struct AnswerLine: Sendable {
    /// The form of the answer.
    enum Content: Sendable {
        /// A well-formed answer; without a body it gets one with its number.
        case response(status: Int, style: Set<String>, fields: [CaseLine.Part], body: CaseText?)
        /// Bytes, and words for what is done between them.
        case raw(CaseText)
        /// A web socket: words about it, changes of the answer's fields, and what is done on it.
        case webSocket(styles: Set<String>, fields: [CaseLine.Part], steps: [ServerStep])
        /// What is done on the connection of HTTP/2 in place of an answer.
        case http2(steps: [HTTP2ServerStep])
    }

    /// Counted from 1 in the case.
    let number: Int
    let method: String?
    let server: String?
    /// The request target; nil is any.
    let target: String?
    /// Whether it answers more than once.
    let isForAll: Bool
    var content: Content
}

/// A request of the client.
struct RequestLine: Sendable {
    /// Nil waits for its end at once.
    let label: String?
    let method: String
    let url: CaseText
    let session: String?
    let options: [JSONMember]
    let fields: [CaseLine.Part]
    let body: CaseText?
}

/// What the client tells of a request.
struct ResultLine: Sendable {
    /// How it ended.
    enum End: Sendable {
        case status(Int)
        /// The error's name, and the status of the response that came before.
        case error(String, after: Int?)
    }

    let end: End
    let fields: [CaseLine.Part]
    let body: CaseText?
}

/// What is expected of a member of the last result.
enum MemberTest: Sendable {
    case equals(JSONValue)
    case absent
    case count(Int)
    case contains(String)
}

/// What a server has received next.
struct ReceivedLine: Sendable {
    let method: String
    let target: CaseText
    let server: String?
    let fields: [CaseLine.Part]
    let body: CaseText?
}

/// What a proxy has been asked next.
struct ProxyAskLine: Sendable {
    let proxy: String
    let kind: String
    let target: CaseText
    let fields: [CaseLine.Part]
}

/// The digest in the request that was looked at last.
struct ProofLine: Sendable {
    let user: CaseText
    let password: CaseText
    let field: String
    let parameters: [CaseLine.Part]
}
