// What was measured about one exchange: one request on one connection and its answer.

import Foundation
import URLLoadingEngine

/// The measurements of one exchange. Dates of steps that did not happen are `nil` (B12.7); on a reused connection those
/// of look-up, connect and TLS (B12.12).
open class URLSessionTaskTransactionMetrics: NSObject, @unchecked Sendable {
    // Safe to share: every stored property is immutable, or set once.
    private let record: TransactionRecord?
    private let clock: WallClock
    private let madeDates = SetOnce<TransactionRecord.Dates>()
    /// Made when one is asked for, which is seldom; who asks for one asks for more.
    var dates: TransactionDates {
        guard let record else { return TransactionDates() }
        if let known = record.foreignDates ?? madeDates.value { return known.dates }
        let made = TransactionRecord.Dates(TransactionDates(record.timeline, clock: clock))
        madeDates.set(made)
        return made.dates
    }

    /// Makes an empty object, for mocks.
    @available(*, deprecated, message: "Metrics are made by sessions")
    public override init() {
        record = nil
        clock = WallClock()
        super.init()
    }

    init(_ record: TransactionRecord, clock: WallClock) {
        self.record = record
        self.clock = clock
        super.init()
    }

    /// The request as it was sent (B12.6); what HTTP/1.1 needs for its connections is not among the fields of one that
    /// went by HTTP/2.
    open var request: URLRequest {
        guard let record else { return URLRequest(RequestValues()) }
        let isHTTP2 = record.timeline.spoken == .http2
        return record.request.showing(isHTTP2 ? record.sentFields?.sentInHTTP2 : record.sentFields)
    }

    /// The response, if one arrived.
    open var response: URLResponse? { record?.response }

    /// When the exchange was taken up (B12.8).
    open var fetchStartDate: Date? { dates.fetchStart }

    /// Before the look-up of the name.
    open var domainLookupStartDate: Date? { dates.lookupStart }

    /// After the look-up of the name.
    open var domainLookupEndDate: Date? { dates.lookupEnd }

    /// Before the first TCP connect.
    open var connectStartDate: Date? { dates.connectStart }

    /// Before the TLS handshake.
    open var secureConnectionStartDate: Date? { dates.secureStart }

    /// After the TLS handshake.
    open var secureConnectionEndDate: Date? { dates.secureEnd }

    /// When the connection could be used, TLS included (B12.10).
    open var connectEndDate: Date? { dates.connectEnd }

    /// Before the first byte of the request.
    open var requestStartDate: Date? { dates.requestStart }

    /// After its last byte.
    open var requestEndDate: Date? { dates.requestEnd }

    /// The first byte of the response.
    open var responseStartDate: Date? { dates.responseStart }

    /// After its last byte.
    open var responseEndDate: Date? { dates.responseEnd }

    /// `h2`, `http/1.1` or `http/1.0` (B12.16, H1.9).
    open var networkProtocolName: String? { record?.timeline.protocolName }

    /// What was spoken, where a response came.
    var spoken: SpokenProtocol { record?.timeline.spoken ?? .http11 }

    /// Whether a proxy was used (B12.17); the other end is then the proxy (B12.20).
    open var isProxyConnection: Bool { record?.timeline.usesProxy ?? false }

    /// Whether the connection had been used before.
    open var isReusedConnection: Bool { record?.timeline.reused ?? false }

    /// Where the response came from: the cache also where a server has confirmed what was there, and then with the
    /// times of asking (B7.98).
    open var resourceFetchType: URLSessionTaskMetrics.ResourceFetchType {
        record?.source ?? .unknown
    }

    /// Bytes of request line and fields (B12.19).
    open var countOfRequestHeaderBytesSent: Int64 { record?.timeline.requestHeadBytes ?? 0 }

    /// Bytes of the request's body, framing included.
    open var countOfRequestBodyBytesSent: Int64 { record?.timeline.requestBodyBytes ?? 0 }

    /// Bytes of the request's body before framing.
    open var countOfRequestBodyBytesBeforeEncoding: Int64 { record?.timeline.requestBodyBytesBeforeEncoding ?? 0 }

    /// Bytes of status line and fields.
    open var countOfResponseHeaderBytesReceived: Int64 { record?.timeline.responseHeadBytes ?? 0 }

    /// Bytes of the response's body as they came, framing and coding included.
    open var countOfResponseBodyBytesReceived: Int64 { record?.timeline.responseBodyBytes ?? 0 }

    /// `countOfResponseBodyBytesBeforeDecoding`.
    var bodyBytesBeforeDecoding: Int64 {
        guard let timeline = record?.timeline else { return 0 }
        return timeline.responseBodyBytesCoded > 0 ? timeline.responseBodyBytesCoded : timeline.responseBodyBytesDecoded
    }

    /// Bytes of the response's body as delivered.
    open var countOfResponseBodyBytesAfterDecoding: Int64 { record?.timeline.responseBodyBytesDecoded ?? 0 }

    /// This end's address in numbers (B12.20).
    open var localAddress: String? { record?.timeline.localAddress?.host }

    /// This end's port.
    open var localPort: Int? { record?.timeline.localAddress?.port }

    /// The other end's address in numbers.
    open var remoteAddress: String? { record?.timeline.remoteAddress?.host }

    /// The other end's port.
    open var remotePort: Int? { record?.timeline.remoteAddress?.port }

    /// The TLS version that was agreed on (B12.21).
    open var negotiatedTLSProtocolVersion: tls_protocol_version_t? {
        record?.timeline.tls.flatMap { tls_protocol_version_t(rawValue: $0.version) }
    }

    /// The cipher suite that was agreed on; `nil` also for one that the enumeration does not list.
    open var negotiatedTLSCipherSuite: tls_ciphersuite_t? {
        record?.timeline.tls.flatMap { tls_ciphersuite_t(rawValue: $0.cipher) }
    }

    /// Always false on Linux (B12.22).
    open var isCellular: Bool { false }

    /// Always false on Linux (B12.22).
    open var isExpensive: Bool { false }

    /// Always false on Linux (B12.22).
    open var isConstrained: Bool { false }

    /// Always false on Linux (B12.22).
    open var isMultipath: Bool { false }

    /// Always unknown on Linux (B12.23).
    open var domainResolutionProtocol: URLSessionTaskMetrics.DomainResolutionProtocol { .unknown }
}

/// The dates of one exchange, none before the one of the step before (B12.15): the engine reads its clock once a turn,
/// and a server may answer before it has read the whole request.
struct TransactionDates: Sendable {
    var fetchStart: Date?
    var lookupStart: Date?
    var lookupEnd: Date?
    var connectStart: Date?
    var secureStart: Date?
    var secureEnd: Date?
    var connectEnd: Date?
    var requestStart: Date?
    var requestEnd: Date?
    var responseStart: Date?
    var responseEnd: Date?

    init() {}

    init(_ timeline: Timeline, clock: WallClock) {
        var latest = timeline.fetchStart
        func next(_ instant: ContinuousClock.Instant?) -> Date? {
            guard let instant else { return nil }
            latest = max(latest, instant)
            return clock.date(latest)
        }
        fetchStart = next(timeline.fetchStart)
        lookupStart = next(timeline.lookupStart)
        lookupEnd = next(timeline.lookupEnd)
        connectStart = next(timeline.connectStart)
        secureStart = next(timeline.secureStart)
        secureEnd = next(timeline.secureEnd)
        connectEnd = next(timeline.connectEnd)
        requestStart = next(timeline.requestStart)
        requestEnd = next(timeline.requestEnd)
        responseStart = next(timeline.responseStart)
        responseEnd = next(timeline.responseEnd)
    }
}
