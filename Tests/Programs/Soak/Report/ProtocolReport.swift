// What the soak came to over one protocol: its requests by what they were for, and what the servers saw of them.

import URLLoadingLoopbackServer

/// The share of one protocol.
struct ProtocolReport: Codable, Sendable {
    let spoken: LaneProtocol
    let kinds: [String: Ledger.Counts]
    /// Errors that are accounted for, by the number of their code.
    let errors: [String: Int]
    /// Connections that were spoken on.
    let connections: Int
    /// Requests whose heads came to servers; over HTTP/2 these are streams.
    let asked: Int
    /// The most streams at once on a connection.
    let mostStreams: Int
    /// Streams that were reset by the client.
    let streamsReset: Int
    let whims: ServerWhims.Counts

    /// What a ledger and the servers of its lanes say.
    init(_ ledger: Ledger, _ lanes: [Lane]) {
        let seen = lanes.map(\.seen)
        func sum(_ count: (ServerStatistics) -> Int) -> Int { seen.reduce(0) { $0 + count($1.statistics) } }
        spoken = ledger.spoken
        kinds = ledger.kinds
        errors = ledger.errors
        connections = sum {
            ledger.spoken == .http2 ? $0.http2Connections : $0.connectionsAccepted - $0.http2Connections
        }
        asked = sum(\.requestsBegun)
        mostStreams = seen.map(\.statistics.mostStreamsAtOnce).max() ?? 0
        streamsReset = sum(\.streamsReset)
        whims = seen.reduce(ServerWhims.Counts()) { $0 + $1.whims }
    }

    /// Everything together.
    var sum: Ledger.Counts { kinds.values.reduce(into: Ledger.Counts()) { $0 += $1 } }

    // MARK: Words

    /// What the servers saw.
    var sentence: String {
        let start = "\(spoken.rawValue): \(asked) requests came to servers, on \(connections) connections"
        guard spoken == .http2 else { return start }
        return start
            + ", each on a stream, at most \(mostStreams) at once on one. The client reset \(streamsReset) streams. "
            + "The servers refused \(whims.refused), were to say goodbye in the midst of requests on \(whims.goodbyes) "
            + "connections, and things of no importance on \(whims.asides)"
    }

    /// The requests by what they were for, and all, with a row of headings before them.
    var table: [[String]] {
        let head = [
            spoken.rawValue, "requests", "right", "as delivered", "cancelled", "failed", "unexplained", "wrong", "lost",
            "twice",
        ]
        let rows = kinds.sorted { $0.key < $1.key } + [("all", sum)]
        return [head]
            + rows.map { name, counts in
                [name]
                    + [
                        counts.requests, counts.right, counts.asDelivered, counts.cancelled, counts.failed,
                        counts.unexplained, counts.wrong, counts.lost, counts.twice,
                    ].map(String.init)
            }
    }
}
