// What was measured about one exchange: one request on one connection and its answer.

import Foundation
import LoadingEngine

/// The measurements of one exchange. Dates of steps that did not happen are `nil` (B12.7); on a reused connection those
/// of look-up, connect and TLS (B12.12).
open class URLSessionTaskTransactionMetrics: NSObject, @unchecked Sendable {
    // Safe to share: every stored property is immutable.
    private let record: TransactionRecord?
    private let clock: WallClock

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

    private func date(_ path: KeyPath<Timeline, ContinuousClock.Instant?>) -> Date? {
        record?.timeline[keyPath: path].map(clock.date)
    }

    /// The request as it was sent (B12.6).
    open var request: URLRequest {
        record.map { $0.request.showing($0.sentFields) } ?? URLRequest(RequestValues())
    }

    /// The response, if one arrived.
    open var response: URLResponse? { record?.response }

    /// When the exchange was taken up (B12.8).
    open var fetchStartDate: Date? { record.map { clock.date($0.timeline.fetchStart) } }

    /// Before the look-up of the name.
    open var domainLookupStartDate: Date? { date(\.lookupStart) }

    /// After the look-up of the name.
    open var domainLookupEndDate: Date? { date(\.lookupEnd) }

    /// Before the first TCP connect.
    open var connectStartDate: Date? { date(\.connectStart) }

    /// Before the TLS handshake.
    open var secureConnectionStartDate: Date? { date(\.secureStart) }

    /// After the TLS handshake.
    open var secureConnectionEndDate: Date? { date(\.secureEnd) }

    /// When the connection could be used, TLS included (B12.10).
    open var connectEndDate: Date? { date(\.connectEnd) }

    /// Before the first byte of the request.
    open var requestStartDate: Date? { date(\.requestStart) }

    /// After its last byte.
    open var requestEndDate: Date? { date(\.requestEnd) }

    /// The first byte of the response.
    open var responseStartDate: Date? { date(\.responseStart) }

    /// After its last byte.
    open var responseEndDate: Date? { date(\.responseEnd) }

    /// `http/1.1` or `http/1.0` (B12.16).
    open var networkProtocolName: String? { record?.timeline.protocolName }

    /// Whether a proxy was used.
    open var isProxyConnection: Bool { false }

    /// Whether the connection had been used before.
    open var isReusedConnection: Bool { record?.timeline.reused ?? false }

    /// Where the response came from.
    open var resourceFetchType: URLSessionTaskMetrics.ResourceFetchType {
        record == nil ? .unknown : .networkLoad
    }

    /// Bytes of request line and fields (B12.19).
    open var countOfRequestHeaderBytesSent: Int64 { record?.timeline.requestHeadBytes ?? 0 }

    /// Bytes of the request's body, framing included.
    open var countOfRequestBodyBytesSent: Int64 { record?.timeline.requestBodyBytes ?? 0 }

    /// Bytes of the request's body before framing.
    open var countOfRequestBodyBytesBeforeEncoding: Int64 { record?.timeline.requestBodyBytes ?? 0 }

    /// Bytes of status line and fields.
    open var countOfResponseHeaderBytesReceived: Int64 { record?.timeline.responseHeadBytes ?? 0 }

    /// Bytes of the response's body as they came, framing and coding included.
    open var countOfResponseBodyBytesReceived: Int64 { record?.timeline.responseBodyBytes ?? 0 }

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
