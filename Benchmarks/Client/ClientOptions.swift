// The command line that all clients of the comparison share; Peers/README.md describes it.

import Foundation

/// What one run of a client shall do.
struct ClientOptions: Sendable {
    /// What is done with each answer.
    enum Operation: String {
        /// The whole body in memory.
        case get
        /// The body streamed and thrown away.
        case download
        /// The body in a file.
        case save
        /// A file sent as the body of a POST.
        case upload
        /// Messages to an echo and back, each a request.
        case websocket
    }

    /// By which part of the API the work is done. Only this client has the choice.
    enum Interface: String {
        /// `data(from:)` for whole bodies, a delegate for streamed ones.
        case standard
        /// The calls of `standard`, by tasks that run on the session's own executor.
        case executor
        /// The standard one, with a cache that has every answer from the second request on.
        case cached
        /// Data tasks with completion handlers.
        case completion
        /// Data tasks with a session delegate.
        case delegate
        /// `bytes(from:)`, by the pieces in which the body came.
        case chunks
        /// `bytes(from:)`, byte by byte.
        case bytes
    }

    /// What the session has that Apple's has not. Only this client has the choice.
    enum Addition: String {
        /// Hooks that count each step.
        case hooks
        /// Lines of the log at their finest, which are counted.
        case log
        /// A retry policy, which has nothing to do.
        case retries
        /// An interceptor that passes each request on.
        case interceptor
    }

    var operation = Operation.get
    var interface = Interface.standard
    var addition: Addition?
    var url = ""
    var anchors: String?
    var file: String?
    var connections = 1
    /// How many requests there are at once; 0 for one on each connection.
    var tasks = 0
    var origins = 1
    var requests = 0
    var warmup = 0
    var seconds = 0.0
    var wantsGzip = false
    /// Whether all requests to an origin are to share a connection of HTTP/2.
    var wantsHTTP2 = false
    /// By how many sessions the requests are made in turn.
    var sessions = 1
    /// How many header fields of its own each request has.
    var fields = 0
    /// Whether all header fields of each answer are looked at.
    var readsFields = false

    /// Nil where the command line is not understood.
    init?(_ arguments: [String]) {
        guard let operation = arguments.first.flatMap(Operation.init) else { return nil }
        self.operation = operation
        var rest = arguments.dropFirst()
        while let name = rest.popFirst() {
            switch name {
            case "--gzip":
                wantsGzip = true
                continue
            case "--http2":
                wantsHTTP2 = true
                continue
            case "--read-fields":
                readsFields = true
                continue
            default: break
            }
            guard let value = rest.popFirst(), set(name, value) else { return nil }
        }
        if url.isEmpty || connections < 1 || origins < 1 || sessions < 1 { return nil }
        if tasks == 0 { tasks = connections }
        if requests == 0 && seconds == 0 { requests = 1 }
    }

    /// The URLs of the origins; nil where one of them is none.
    var urls: [URL]? {
        let texts = (1...origins).map { url.replacingOccurrences(of: "{}", with: String($0)) }
        let urls = texts.compactMap(URL.init)
        return urls.count == texts.count ? urls : nil
    }

    private mutating func set(_ name: String, _ value: String) -> Bool {
        switch name {
        case "--url": url = value
        case "--cacert": anchors = value
        case "--file": file = value
        case "--interface":
            guard let interface = Interface(rawValue: value) else { return false }
            self.interface = interface
        case "--addition":
            guard let addition = Addition(rawValue: value) else { return false }
            self.addition = addition
        case "--seconds":
            guard let seconds = Double(value) else { return false }
            self.seconds = seconds
        case "--connections", "--tasks", "--origins", "--sessions", "--requests", "--warmup", "--fields":
            guard let number = Int(value), number >= 0 else { return false }
            switch name {
            case "--connections": connections = number
            case "--tasks": tasks = number
            case "--origins": origins = number
            case "--sessions": sessions = number
            case "--requests": requests = number
            case "--fields": fields = number
            default: warmup = number
            }
        default: return false
        }
        return true
    }
}
