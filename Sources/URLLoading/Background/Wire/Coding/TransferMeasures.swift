// What was measured about the exchanges of a task, in the owner's process, for the metrics in
// the program's (chapter 12).
//
// It must not know metrics, nor which code measures.

import URLLoadingEngine
import URLLoadingPolicy

/// The measurements of a task.
package struct TransferMeasures: Sendable, Hashable {
    /// The exchanges, in order; where there were many, the last of them.
    package private(set) var exchanges: [TransferExchange] = []
    /// How many redirects were followed.
    package private(set) var redirects: UInt32 = 0

    /// Nothing yet.
    package init() {}

    /// Whether nothing was measured.
    package var isEmpty: Bool { exchanges.isEmpty && redirects == 0 }

    /// Adds what one attempt at the task has come to.
    package mutating func add(_ more: [TransferExchange], redirects: UInt32) {
        let all = exchanges + more
        var kept = 0
        var bytes = 0
        for exchange in all.reversed().prefix(Self.most) {
            bytes += exchange.textLength
            guard bytes <= Self.mostBytes else { break }
            kept += 1
        }
        exchanges = all.suffix(kept)
        self.redirects = self.redirects.addingSaturated(redirects)
    }

    /// Notes that the program was told of a response when it came, and has taken its cookies.
    package mutating func told(_ head: TransferHead) {
        for index in exchanges.indices where exchanges[index].head.map({ $0.isSame(as: head) }) ?? false {
            exchanges[index].isTold = true
        }
    }

    init(exchanges: [TransferExchange], redirects: UInt32) {
        self.exchanges = exchanges
        self.redirects = redirects
    }

    /// A server that is down for a week is asked a thousand times, and journals are written often. Picked by feel.
    private static let most = 16
    /// How many bytes of a server's words are kept, for the same reasons.
    private static let mostBytes = 256 << 10
}

/// One request and its answer.
package struct TransferExchange: Sendable, Hashable {
    /// What was asked for, as it was sent.
    package var request: TransferRequest
    /// The response, if one has come.
    package var head: TransferHead?
    /// Whether the program was told of the response when it came.
    package var isTold = false
    /// When things happened.
    package var times = Times()
    /// Whether the connection had been used before.
    package var isReused = false
    /// Whether a proxy was used.
    package var usesProxy = false
    /// What the server spoke.
    package var spoken = SpokenProtocol.http11
    /// The number of where the response came from.
    package var source: UInt32 = 0
    /// This end of the connection.
    package var local: Address?
    /// The other end.
    package var remote: Address?
    /// What TLS has agreed on.
    package var tls: TLS?
    /// How much moved.
    package var counts = Counts()

    /// The steps in microseconds since 1970; nil where a step did not happen.
    package struct Times: Sendable, Hashable {
        package var fetchStart: Int64?
        package var lookupStart: Int64?
        package var lookupEnd: Int64?
        package var connectStart: Int64?
        package var secureStart: Int64?
        package var secureEnd: Int64?
        package var connectEnd: Int64?
        package var requestStart: Int64?
        package var requestEnd: Int64?
        package var responseStart: Int64?
        package var responseEnd: Int64?

        package init() {}
    }

    /// An address in numbers.
    package struct Address: Sendable, Hashable {
        package var host: String
        package var port: UInt16

        package init(host: String, port: UInt16) {
            self.host = host
            self.port = port
        }
    }

    /// Version and cipher suite by their numbers on the wire.
    package struct TLS: Sendable, Hashable {
        package var version: UInt16
        package var cipher: UInt16

        package init(version: UInt16, cipher: UInt16) {
            self.version = version
            self.cipher = cipher
        }
    }

    /// Bytes, as `URLSessionTaskTransactionMetrics` counts them.
    package struct Counts: Sendable, Hashable {
        package var requestHead: Int64 = 0
        package var requestBody: Int64 = 0
        package var responseHead: Int64 = 0
        package var responseBody: Int64 = 0
        package var responseBodyDecoded: Int64 = 0

        package init() {}
    }

    /// Of what can be long, in bytes.
    fileprivate var textLength: Int {
        let fields = request.fields + (head?.fields ?? []) + (head?.trailers ?? [])
        return request.url.utf8.count + (head?.reason?.utf8.count ?? 0)
            + fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    }

    /// An exchange of which only the request is known.
    package init(_ request: TransferRequest) {
        self.request = request
    }
}
