// Measurements between the process that owns a transfer and the program that asks for its metrics.
//
// Must not know: journals, processes.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTLS

extension TransferExchange {
    /// What was measured, without proofs: those are removed as soon as they are not needed (B10.38).
    init?(_ metrics: URLSessionTaskTransactionMetrics) {
        guard var request = TransferRequest(metrics.request.withoutBody) else { return nil }
        request.fields.removeAll { RedirectRules.isCredential($0.name) }
        self.init(request)
        head = metrics.response.flatMap { TransferHead($0) }
        times = metrics.dates.times
        isReused = metrics.isReusedConnection
        usesProxy = metrics.isProxyConnection
        spoken = metrics.spoken
        source = UInt32(clamping: metrics.resourceFetchType.rawValue)
        local = Self.address(metrics.localAddress, metrics.localPort)
        remote = Self.address(metrics.remoteAddress, metrics.remotePort)
        if let version = metrics.negotiatedTLSProtocolVersion {
            tls = TLS(version: version.rawValue, cipher: metrics.negotiatedTLSCipherSuite?.rawValue ?? 0)
        }
        counts.requestHead = metrics.countOfRequestHeaderBytesSent
        counts.requestBody = metrics.countOfRequestBodyBytesSent
        counts.responseHead = metrics.countOfResponseHeaderBytesReceived
        counts.responseBody = metrics.countOfResponseBodyBytesReceived
        counts.responseBodyDecoded = metrics.countOfResponseBodyBytesAfterDecoding
    }

    private static func address(_ host: String?, _ port: Int?) -> Address? {
        host.map { Address(host: $0, port: UInt16(clamping: port ?? 0)) }
    }
}

extension TransactionRecord {
    /// What another process has measured; nil where its request has no URL.
    init?(_ exchange: TransferExchange) {
        guard let request = exchange.request.urlRequest else { return nil }
        var timeline = Timeline.elsewhere(
            start: .zero, response: nil, end: .zero, bodyBytes: exchange.counts.responseBodyDecoded)
        timeline.reused = exchange.isReused
        timeline.usesProxy = exchange.usesProxy
        timeline.spoken = exchange.spoken
        timeline.status = exchange.head.map { Int($0.status) } ?? 0
        timeline.localAddress = exchange.local?.socketAddress
        timeline.remoteAddress = exchange.remote?.socketAddress
        timeline.tls = exchange.tls.map {
            Negotiated(version: $0.version, cipher: $0.cipher, cipherName: "", alpn: nil, resumed: false)
        }
        timeline.requestHeadBytes = exchange.counts.requestHead
        timeline.requestBodyBytes = exchange.counts.requestBody
        // Bodies of background uploads are files, whose length is known.
        timeline.requestBodyBytesBeforeEncoding = exchange.counts.requestBody
        timeline.responseHeadBytes = exchange.counts.responseHead
        timeline.responseBodyBytes = exchange.counts.responseBody
        // The bytes of framing were not written down.
        timeline.responseBodyBytesCoded = exchange.counts.responseBody
        timeline.responseBodyBytesDecoded = exchange.counts.responseBodyDecoded
        self.init(request: request, sentFields: nil, response: exchange.head?.response, timeline: timeline)
        source = URLSessionTaskMetrics.ResourceFetchType(rawValue: Int(exchange.source)) ?? .unknown
        foreignDates = Dates(TransactionDates(exchange.times))
    }
}

extension TransferExchange.Address {
    fileprivate var socketAddress: SocketAddress? { SocketAddress(literal: host, port: Int(port)) }
}

extension TransactionDates {
    /// As numbers; without what is beyond all numbers, by a clock that is far off.
    var times: TransferExchange.Times {
        var times = TransferExchange.Times()
        for (date, time) in Self.steps {
            times[keyPath: time] = self[keyPath: date].flatMap {
                Int64(exactly: ($0.timeIntervalSince1970 * 1e6).rounded())
            }
        }
        return times
    }

    fileprivate init(_ times: TransferExchange.Times) {
        self.init()
        for (date, time) in Self.steps {
            self[keyPath: date] = times[keyPath: time].map { Date(timeIntervalSince1970: TimeInterval($0) / 1e6) }
        }
    }

    private static var steps: [(WritableKeyPath<Self, Date?>, WritableKeyPath<TransferExchange.Times, Int64?>)] {
        [
            (\.fetchStart, \.fetchStart), (\.lookupStart, \.lookupStart), (\.lookupEnd, \.lookupEnd),
            (\.connectStart, \.connectStart), (\.secureStart, \.secureStart), (\.secureEnd, \.secureEnd),
            (\.connectEnd, \.connectEnd), (\.requestStart, \.requestStart), (\.requestEnd, \.requestEnd),
            (\.responseStart, \.responseStart), (\.responseEnd, \.responseEnd),
        ]
    }
}

extension URLRequest {
    /// An upload's body may be a stream, which cannot be written down.
    fileprivate var withoutBody: URLRequest {
        var request = self
        request.httpBody = nil
        return request
    }
}
