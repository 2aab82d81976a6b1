// One kind of work that all clients are given, and how its cost is told. Values only.

/// A named scenario of the comparison.
struct Scenario: Sendable {
    /// What the command line and the result files call it.
    let name: String
    /// What a reader sees.
    let title: String
    /// What the clients do; the word of their command line.
    let operation: String
    /// Where the clients are sent.
    let place: Place
    /// How many requests are in flight.
    var connections = 1
    /// How many requests there are at once; those beyond the connections wait in the client. Nil for as many as those.
    ///
    /// Only the clients of the URL Loading System's API have such a queue, and only they take part.
    var tasks: Int?
    /// The clients that take part beside this library's, where most have nothing to take part with; nil for all.
    var peers: [String]?
    /// How many origins the requests go to.
    var origins = 1
    /// By how many sessions the requests are made in turn, each with connections of its own; more than one is something
    /// that only this library's client has.
    var sessions = 1
    /// How many requests are made before the clocks start.
    var warmup = 0
    /// When a client has done enough.
    let amount: Amount
    /// Whether clients must ask for gzip.
    var gzip = false
    /// What the processor time is divided by.
    var unit = Unit.request
    /// What the memory column shows.
    var memory = Memory.peak
    /// The other ways into this library's API that are measured as well.
    var interfaces: [String] = []
    /// What must come out.
    var bars: [Bar] = []

    /// A server and a path on it.
    struct Place: Sendable {
        /// The servers that are started.
        enum Server: Sendable {
            /// Keeps connections; nginx where it is installed.
            case fast
            /// Keeps connections over TLS, with session tickets.
            case fastTLS
            /// Over TLS without resumption.
            case fastTLSWithoutTickets
            /// Over TLS, for HTTP/2.
            case fastHTTP2
            /// `LoopbackServer`, for what nginx cannot do by itself.
            case scripted
            /// `LoopbackServer` over TLS.
            case scriptedTLS
            /// `LoopbackServer` for HTTP/2.
            case scriptedHTTP2
            /// An echo of web sockets by the peer `websockets`; a gap where that is not installed.
            case websockets
        }

        let server: Server
        let path: String

        /// Whether certificates are to be checked, and against which anchors.
        var isSecure: Bool {
            switch server {
            case .fast, .scripted, .websockets: false
            case .fastTLS, .fastTLSWithoutTickets, .fastHTTP2, .scriptedTLS, .scriptedHTTP2: true
            }
        }

        /// Whether clients are to speak HTTP/2, all requests to an origin on one connection.
        var isHTTP2: Bool { server == .fastHTTP2 || server == .scriptedHTTP2 }
    }

    /// How much is done in one run.
    enum Amount: Sendable {
        /// As many requests as fit into so many seconds.
        case seconds(Double)
        /// So many requests.
        case requests(Int)
        /// So many processes with one request each; their whole cost counts, from start to end.
        case processes(Int, anchors: Anchors)
    }

    /// The form in which trusted certificates are given.
    enum Anchors: Sendable {
        /// A file with all of them.
        case file
        /// A directory in which each is found by a hash of its name.
        case directory
    }

    /// What the processor time is divided by.
    enum Unit: Sendable {
        /// µs for a request.
        case request
        /// Seconds for 2^30 bytes.
        case gibibyte
        /// Seconds for a whole transfer.
        case transfer
        /// ms for a process.
        case process
    }

    /// What is shown of the memory.
    enum Memory: Sendable {
        /// The most that was resident.
        case peak
        /// How far the peak is above the start, for each request in flight.
        case peakPerConnection
        /// How far the end is above the start, for each connection kept.
        case restPerConnection
    }
}

/// A promise about one figure of a scenario.
struct Bar: Sendable {
    /// A figure of a row of the table.
    enum Figure: String, Sendable {
        case cpu = "CPU"
        case rate = "rate"
        case p50 = "p50"
        case memory = "memory"
    }

    /// What the figure is held against.
    enum Measure: Sendable {
        /// At most so many times the peer's.
        case atMost(Double, of: String)
        /// At least so many times the peer's.
        case atLeast(Double, of: String)
        /// At most so many times our own in another scenario.
        case atMostOurs(Double, in: String)
        /// At most so much above our own in another scenario, in the figure's own unit.
        case atMostAboveOurs(Double, in: String)
        /// Below a number in the figure's own unit.
        case below(Double)
        /// Above a number in the figure's own unit.
        case above(Double)
    }

    let figure: Figure
    let measure: Measure
    /// The interface that must keep the promise; nil for the standard one.
    var interface: String?

    static func atMost(_ factor: Double, _ figure: Figure, of peer: String, by interface: String? = nil) -> Bar {
        Bar(figure: figure, measure: .atMost(factor, of: peer), interface: interface)
    }

    static func atLeast(_ factor: Double, _ figure: Figure, of peer: String) -> Bar {
        Bar(figure: figure, measure: .atLeast(factor, of: peer))
    }

    static func atMostOurs(_ factor: Double, _ figure: Figure, in scenario: String) -> Bar {
        Bar(figure: figure, measure: .atMostOurs(factor, in: scenario))
    }

    static func atMostAboveOurs(_ excess: Double, _ figure: Figure, in scenario: String) -> Bar {
        Bar(figure: figure, measure: .atMostAboveOurs(excess, in: scenario))
    }

    static func below(_ limit: Double, _ figure: Figure) -> Bar {
        Bar(figure: figure, measure: .below(limit))
    }

    static func above(_ limit: Double, _ figure: Figure, by interface: String? = nil) -> Bar {
        Bar(figure: figure, measure: .above(limit), interface: interface)
    }
}
