// The list of scenarios, in the order of the tables, with the promises that go with them.

extension Scenario {
    /// All scenarios at some scale.
    static func all(_ scale: Scale) -> [Scenario] {
        steady(scale) + bodies(scale) + newConnections(scale) + queues(scale) + crowds(scale) + starts(scale)
            + http2(scale) + webSockets(scale)
    }

    // MARK: - Requests over kept connections

    private static func steady(_ scale: Scale) -> [Scenario] {
        [
            Scenario(
                name: "get-64", title: "Small GET, 64 connections", operation: "get",
                place: Place(server: .fast, path: "/small"), connections: 64, warmup: 2_000,
                amount: .seconds(scale.seconds), interfaces: ["executor", "completion", "delegate"],
                bars: manyRequests),
            Scenario(
                name: "get-64-tls", title: "Small GET, 64 connections, TLS 1.3", operation: "get",
                place: Place(server: .fastTLS, path: "/small"), connections: 64, warmup: 2_000,
                amount: .seconds(scale.seconds), bars: [.atMost(0.8, .cpu, of: "reqwest")]),
            Scenario(
                name: "get-64-fields", title: "16 fields and 1.5 KB of JSON, 64 connections", operation: "get",
                place: Place(server: .fast, path: "/fields"), connections: 64, warmup: 2_000,
                amount: .seconds(scale.seconds), bars: manyRequests),
            Scenario(
                name: "one-by-one", title: "Small GET, one at a time", operation: "get",
                place: Place(server: .fast, path: "/small"), warmup: 200, amount: .seconds(scale.seconds),
                interfaces: ["executor", "completion", "delegate", "cached"],
                bars: [
                    .atMost(1, .p50, of: "hyper"), .atMost(1, .p50, of: "go"),
                    .atMost(1.05, .p50, of: "floor", by: "executor"),
                ]),
            Scenario(
                name: "origins", title: "1,000 small GETs to 100 origins", operation: "get",
                place: Place(server: .fast, path: "/small"), connections: 50, origins: 100, amount: .requests(1_000)),
        ]
    }

    private static let manyRequests: [Bar] = [
        .atMost(0.95, .cpu, of: "hyper"), .atMost(1.25, .cpu, of: "reqwest"),
        .atMost(0.7, .cpu, of: "libcurl-multi"),
        .atMost(0.7, .cpu, of: "go"), .atMost(2.2, .cpu, of: "floor"),
        .atMost(1 / 15, .cpu, of: "foundation-networking"),
        .atLeast(10, .rate, of: "foundation-networking"), .atLeast(1.4, .rate, of: "libcurl-multi"),
    ]

    // MARK: - Large bodies

    private static func bodies(_ scale: Scale) -> [Scenario] {
        [
            Scenario(
                name: "download", title: "Download, streamed", operation: "download",
                place: Place(server: .fast, path: "/large"), amount: .requests(1), unit: .gibibyte,
                interfaces: ["chunks", "bytes"],
                bars: [
                    .atMost(1, .cpu, of: "reqwest"), .atMost(1, .cpu, of: "reqwest", by: "chunks"),
                    // 200 MB/s.
                    .above(200e6 / 1_048_576, .rate, by: "bytes"),
                ]),
            Scenario(
                name: "download-tls", title: "Download, streamed, TLS 1.3", operation: "download",
                place: Place(server: .fastTLS, path: "/large"), amount: .requests(1), unit: .gibibyte,
                bars: [.atMost(0.95, .cpu, of: "libcurl-multi")]),
            Scenario(
                name: "save", title: "Download to a file", operation: "save",
                place: Place(server: .fast, path: "/large"), amount: .requests(1), unit: .gibibyte,
                bars: [.atMost(1.05, .cpu, of: "floor"), .atMost(1, .cpu, of: "curl")]),
            Scenario(
                name: "upload", title: "Upload from a file", operation: "upload",
                place: Place(server: .scripted, path: "/upload"), amount: .requests(1), unit: .gibibyte,
                bars: [.atMost(1.15, .cpu, of: "floor")]),
            Scenario(
                name: "gzip", title: "JSON in gzip, \(scale.json >> 20) MiB decoded", operation: "download",
                place: Place(server: .fast, path: "/json"), amount: .requests(1), gzip: true, unit: .transfer,
                bars: [.atMost(1.1, .cpu, of: "floor")]),
        ]
    }

    // MARK: - Web sockets

    /// As much to an echo as from it.
    private static func webSockets(_ scale: Scale) -> [Scenario] {
        func echo(_ name: String, _ title: String, _ server: Place.Server, size: Int, bars: [Bar]) -> Scenario {
            Scenario(
                name: name, title: title, operation: "websocket",
                place: Place(server: server, path: "/websocket?\(size)"), peers: ["websockets"],
                amount: .requests(scale.largeBody / size), unit: .gibibyte, bars: bars)
        }
        let bars: [Bar] = [.atMost(1, .cpu, of: "websockets"), .atLeast(1, .rate, of: "websockets")]
        let (small, large) = (64 << 10, 1 << 20)
        return [
            echo(
                "websocket-64k", "Web socket, messages of 64 KiB to our echo and back", .scripted, size: small,
                bars: bars),
            echo(
                "websocket-1m", "Web socket, messages of 1 MiB to our echo and back", .scripted, size: large,
                bars: bars),
            echo(
                "websocket-64k-python", "Web socket, messages of 64 KiB to Python's echo and back", .websockets,
                size: small, bars: bars),
            echo(
                "websocket-1m-python", "Web socket, messages of 1 MiB to Python's echo and back", .websockets,
                size: large, bars: bars),
        ]
    }

    // MARK: - A new connection for each request

    private static func newConnections(_ scale: Scale) -> [Scenario] {
        [
            Scenario(
                name: "connect", title: "New plain connection for each request", operation: "get",
                place: Place(server: .fast, path: "/close"), warmup: 100, amount: .seconds(scale.seconds),
                bars: [.atMost(1, .cpu, of: "libcurl-multi")]),
            Scenario(
                name: "connect-tls", title: "New TLS 1.3 connection for each request, full handshake (ECDSA)",
                operation: "get", place: Place(server: .fastTLSWithoutTickets, path: "/close"), warmup: 20,
                amount: .seconds(scale.seconds), bars: [.atMost(1.08, .cpu, of: "floor")]),
            Scenario(
                name: "connect-tls-resumed", title: "New TLS 1.3 connection for each request, resumed",
                operation: "get", place: Place(server: .fastTLS, path: "/close"), warmup: 20,
                amount: .seconds(scale.seconds), bars: [.atMost(1.25, .cpu, of: "floor")]),
        ]
    }

    // MARK: - Many at once

    /// What a request costs must not depend on how many others wait.
    private static func queues(_ scale: Scale) -> [Scenario] {
        func queue(_ name: String, _ count: Int, bars: [Bar] = []) -> Scenario {
            Scenario(
                name: name, title: "\(count) requests at once on six connections", operation: "get",
                place: Place(server: .fast, path: "/small"), connections: 6, tasks: count, warmup: 20 * scale.waiting,
                amount: .requests(20 * scale.waiting), bars: bars)
        }
        return [
            queue("waiting", scale.waiting),
            queue("waiting-tenfold", 10 * scale.waiting, bars: [.atMostOurs(1.5, .cpu, in: "waiting")]),
        ]
    }

    private static func crowds(_ scale: Scale) -> [Scenario] {
        // A warm-up waits as long as a measured request, so there is none where that is long: the
        // start-up counts little there.
        func crowd(
            _ name: String, _ title: String, _ server: Place.Server, count: Int, seconds: Int, memory: Memory,
            limit: Double, bars: [Bar] = []
        ) -> Scenario {
            Scenario(
                name: name, title: "\(count) \(title)", operation: "get",
                place: Place(server: server, path: "/slow?\(seconds)"), connections: count, warmup: seconds > 5 ? 0 : 1,
                amount: .requests(count), memory: memory, bars: [.below(limit, .memory)] + bars)
        }
        return [
            crowd(
                "in-flight", "requests in flight, answered after a second", .scripted, count: scale.inFlight,
                seconds: 1,
                memory: .peakPerConnection, limit: 12, bars: [.atMost(1.5, .cpu, of: "floor")]),
            crowd(
                "idle", "kept connections", .scripted, count: scale.idle, seconds: scale.idlePause.plain,
                memory: .restPerConnection, limit: 3),
            crowd(
                "idle-tls", "kept connections, TLS 1.3", .scriptedTLS, count: scale.idle,
                seconds: scale.idlePause.secure, memory: .restPerConnection, limit: 25),
        ]
    }

    // MARK: - Whole processes

    private static func starts(_ scale: Scale) -> [Scenario] {
        func start(_ name: String, _ title: String, _ server: Place.Server, _ anchors: Anchors, share: Double)
            -> Scenario
        {
            Scenario(
                name: name, title: title, operation: "get", place: Place(server: server, path: "/small"),
                amount: .processes(scale.processes, anchors: anchors), unit: .process,
                bars: [
                    .atMost(share, .cpu, of: "foundation-networking"), .atMost(1, .memory, of: "foundation-networking"),
                ])
        }
        return [
            start("start", "Smallest program, one GET", .fast, .file, share: 0.6),
            start("start-tls", "Smallest program, one GET over TLS, roots in a file", .fastTLS, .file, share: 0.4),
            start(
                "start-tls-directory", "Smallest program, one GET over TLS, roots in a hashed directory", .fastTLS,
                .directory, share: 0.4),
        ]
    }
}
