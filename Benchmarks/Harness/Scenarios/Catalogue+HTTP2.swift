// The scenarios over HTTP/2: all requests on one connection, under TLS 1.3, which is where HTTP/2 is
// spoken. The floor is h2load.

extension Scenario {
    /// The scenarios over HTTP/2 at some scale.
    static func http2(_ scale: Scale) -> [Scenario] {
        http2Requests(scale) + http2Bodies(scale) + http2Crowds(scale)
    }

    private static func http2Requests(_ scale: Scale) -> [Scenario] {
        [
            Scenario(
                name: "h2-64", title: "HTTP/2, small GET, 64 streams", operation: "get",
                place: Place(server: .fastHTTP2, path: "/small"), connections: 64, warmup: 2_000,
                amount: .seconds(scale.seconds), interfaces: ["executor", "completion", "delegate"],
                bars: [.atMost(1.15, .cpu, of: "reqwest"), .atMostOurs(1, .cpu, in: "get-64-tls")]),
            Scenario(
                name: "h2-64-fields", title: "HTTP/2, 16 fields and 1.5 KB of JSON, 64 streams", operation: "get",
                place: Place(server: .fastHTTP2, path: "/fields"), connections: 64, warmup: 2_000,
                amount: .seconds(scale.seconds), bars: [.atMost(1, .cpu, of: "reqwest")]),
            Scenario(
                name: "h2-one-by-one", title: "HTTP/2, small GET, one at a time", operation: "get",
                place: Place(server: .fastHTTP2, path: "/small"), warmup: 200, amount: .seconds(scale.seconds),
                interfaces: ["executor"], bars: [.atMost(1.1, .p50, of: "reqwest")]),
        ]
    }

    private static func http2Bodies(_ scale: Scale) -> [Scenario] {
        [
            Scenario(
                name: "h2-download", title: "HTTP/2, download, streamed", operation: "download",
                place: Place(server: .fastHTTP2, path: "/large"), amount: .requests(1), unit: .gibibyte,
                interfaces: ["chunks"], bars: [.atMost(1.1, .cpu, of: "libcurl-multi")]),
            Scenario(
                name: "h2-upload", title: "HTTP/2, upload from a file", operation: "upload",
                place: Place(server: .scriptedHTTP2, path: "/upload"), amount: .requests(1), unit: .gibibyte,
                bars: [.atMost(1, .cpu, of: "go")]),
        ]
    }

    private static func http2Crowds(_ scale: Scale) -> [Scenario] {
        // With a session each, as one session has one connection: what a session takes is in both.
        func idle(_ name: String, _ title: String, _ server: Place.Server, bars: [Bar] = []) -> Scenario {
            Scenario(
                name: name, title: "\(scale.sessions) kept connections, a session each, \(title)", operation: "get",
                place: Place(server: server, path: "/slow?\(scale.idlePause.plain)"), connections: scale.sessions,
                peers: [], sessions: scale.sessions, amount: .requests(scale.sessions), memory: .restPerConnection,
                bars: bars)
        }
        return [
            Scenario(
                name: "h2-in-flight", title: "HTTP/2, \(scale.inFlight) requests in flight, answered after a second",
                operation: "get", place: Place(server: .scriptedHTTP2, path: "/slow?1"), connections: scale.inFlight,
                warmup: 1, amount: .requests(scale.inFlight), memory: .peakPerConnection, interfaces: ["delegate"],
                bars: [.below(4, .memory)]),
            idle("idle-tls-sessions", "TLS 1.3", .scriptedTLS),
            idle(
                "h2-idle", "HTTP/2", .scriptedHTTP2, bars: [.atMostAboveOurs(8, .memory, in: "idle-tls-sessions")]),
        ]
    }
}
