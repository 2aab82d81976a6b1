// Lines for a log, made of the steps of a session's loads.
//
// What is secret is left out: of a URL there are scheme, host, port and path, never the user and the query; fields and
// bodies are in no line.

import Foundation

extension URLSession {
    /// Ours: how important a line of a log is.
    public enum LogLevel: Int, Sendable, Comparable {
        /// Every step of exchanges and connections.
        case debug
        /// What has become of each load.
        case info
        /// What was tried once more.
        case warning
        /// Loads that have failed.
        case error

        /// By importance.
        public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }
    }

    /// Ours: a line for a log.
    public struct LogLine: Sendable, CustomStringConvertible {
        /// How important it is.
        public let level: LogLevel
        /// What has happened, in words.
        public let message: String
        /// What it has happened to: "task", "exchange", "connection", as far as it concerns one.
        public let metadata: [String: String]

        /// The message, and what it is about, in one line.
        public var description: String {
            metadata.sorted { $0.key < $1.key }.reduce(message) { "\($0) \($1.key)=\($1.value)" }
        }
    }
}

extension URLSession.TraceHooks {
    /// Hooks that write a line for each step that is important enough; the others cost nothing.
    ///
    /// ```swift
    /// configuration.traceHooks = [.log(from: .info) { line in print(line) }]
    /// ```
    ///
    /// `.info` is one line for each load, `.debug` some ten for each request. Lines hold no secrets of URLs, no fields
    /// and no bodies; paths and host names are in them. `write` is called where the step happens, so it must be quick.
    public static func log(
        from least: URLSession.LogLevel = .info, _ write: @escaping @Sendable (URLSession.LogLine) -> Void
    ) -> URLSession.TraceHooks {
        var hooks = URLSession.TraceHooks()
        let log = TraceLog(least: least, write: write)
        log.followLoads(by: &hooks)
        if least <= .warning { log.followRepetitions(by: &hooks) }
        if least <= .debug { log.followSteps(by: &hooks) }
        return hooks
    }
}

/// Puts steps into words.
private struct TraceLog: Sendable {
    typealias Hooks = URLSession.TraceHooks

    let least: URLSession.LogLevel
    let write: @Sendable (URLSession.LogLine) -> Void

    func followLoads(by hooks: inout Hooks) {
        hooks.loadFinished = { load, response, error in
            if let error {
                note(.error, "\(name(of: load.originalRequest)) failed: \(describe(error))", load)
            } else if least <= .info {
                let status = (response as? HTTPURLResponse)?.statusCode
                let what = name(of: load.originalRequest)
                note(.info, "\(what) is done\(status.map { ", status \($0)" } ?? "")", load)
            }
        }
    }

    func followRepetitions(by hooks: inout Hooks) {
        hooks.loadRetrying = { load, failure, pause in
            let reason = failure.response.map { "status \($0.statusCode)" } ?? failure.error.map { describe($0) } ?? ""
            note(.warning, "\(name(of: failure.request)) is tried again in \(pause) s after \(reason)", load)
        }
        hooks.exchangeReplayed = {
            note(.warning, "\(name(of: $0.request)) is sent again: its connection was lost", $0)
        }
    }

    func followSteps(by hooks: inout Hooks) {
        hooks.loadStarted = { note(.debug, "\(name(of: $0.originalRequest)) begins", $0) }
        hooks.loadAnsweredFromCache = { note(.debug, "\(name(of: $0.originalRequest)) is answered by the cache", $0) }
        hooks.exchangeStarted = { note(.debug, "\(name(of: $0.request)) waits for a connection", $0) }
        hooks.connectionAssigned = { exchange, assignment in
            let age = assignment.isReused ? "a kept connection" : "a new connection"
            let end = assignment.remoteAddress.map { " to \($0)" } ?? ""
            note(
                .debug, "\(name(of: exchange.request)) has \(age)\(end), \(assignment.networkProtocolName)", exchange,
                assignment.connection)
        }
        hooks.requestSent = { note(.debug, "the request is sent", $0) }
        hooks.responseReceived = { note(.debug, "the server answers with status \($1)", $0) }
        hooks.exchangeFinished = { exchange, error in
            note(.debug, error.map { "the exchange has failed: \(describe($0))" } ?? "the exchange is over", exchange)
        }
        followConnections(by: &hooks)
    }

    private func followConnections(by hooks: inout Hooks) {
        hooks.lookupStarted = { note(.debug, "\($0) is looked up") }
        hooks.lookupFinished = { host, addresses in
            note(.debug, "\(host) \(addresses.map { "is " + $0.joined(separator: ", ") } ?? "is not known")")
        }
        hooks.connectStarted = { note(.debug, "connecting to \($1)", connection: $0) }
        hooks.connectFinished = { connection, address, error in
            let outcome =
                error.map { "\(address) cannot be connected to: \(describe($0))" } ?? "connected to \(address)"
            note(.debug, outcome, connection: connection)
        }
        hooks.tunnelFinished = { connection, proxy, error in
            let outcome = error.map { "is of no use: \(describe($0))" } ?? "has opened a tunnel"
            note(.debug, "the proxy \(proxy) \(outcome)", connection: connection)
        }
        hooks.handshakeFinished = { connection, result in
            switch result {
            case .success(let agreed):
                note(
                    .debug, "TLS is set up, \(agreed.cipherSuite)\(agreed.isResumed ? ", resumed" : "")",
                    connection: connection)
            case .failure(let error): note(.debug, "TLS has failed: \(describe(error))", connection: connection)
            }
        }
        hooks.connectionOpened = { note(.debug, "the connection is open, \($1)", connection: $0) }
        hooks.connectionClosed = { note(.debug, "the connection is closed", connection: $0) }
    }

    // MARK: Lines

    private func note(_ level: URLSession.LogLevel, _ message: String, _ load: Hooks.Load) {
        write(URLSession.LogLine(level: level, message: message, metadata: ["task": "\(load.taskIdentifier)"]))
    }

    private func note(
        _ level: URLSession.LogLevel, _ message: String, _ exchange: Hooks.Exchange,
        _ connection: Hooks.ConnectionID? = nil
    ) {
        var metadata = ["task": "\(exchange.load.taskIdentifier)", "exchange": "\(exchange.number)"]
        if let connection { metadata["connection"] = connection.description }
        write(URLSession.LogLine(level: level, message: message, metadata: metadata))
    }

    private func note(_ level: URLSession.LogLevel, _ message: String, connection: Hooks.ConnectionID? = nil) {
        let metadata = connection.map { ["connection": $0.description] } ?? [:]
        write(URLSession.LogLine(level: level, message: message, metadata: metadata))
    }

    // MARK: Words

    private func name(of request: URLRequest?) -> String {
        guard let request, let url = request.url else { return "A connection" }
        return "\(request.httpMethod ?? "GET") \(url.place)"
    }

    private func describe(_ error: any Error) -> String {
        guard let error = error as? URLError else { return (error as NSError).localizedDescription }
        return "\(error.localizedDescription) (\(error.errorCode))"
    }
}

extension URL {
    /// Scheme, host, port and path. A query may hold secrets, and a password is one.
    fileprivate var place: String {
        // What a "data" URL has for a path is content.
        guard let scheme, let host = host(percentEncoded: true) else { return "\(scheme ?? ""):…" }
        let port = port.map { ":\($0)" } ?? ""
        return "\(scheme)://\(host)\(port)\(path(percentEncoded: true))"
    }
}
