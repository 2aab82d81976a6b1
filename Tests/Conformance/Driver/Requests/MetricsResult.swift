// The `metrics` of a request. Driver protocol, section 4.

import Foundation
import URLLoading
import URLLoadingTestSupport

extension URLSessionTaskMetrics {
    /// The measurements as the protocol shows them.
    var json: JSONValue {
        [
            "total_ms": .integer(milliseconds(taskInterval.duration)),
            "redirect_count": .count(redirectCount),
            "transactions": .array(transactionMetrics.map(\.json)),
        ]
    }
}

extension URLSessionTaskTransactionMetrics {
    fileprivate var json: JSONValue {
        // Without a connection, as where it was refused, there is nothing to know about it. What comes from elsewhere
        // than the network uses none.
        let isKnown = remotePort != nil || resourceFetchType != .networkLoad
        var members: [(String, JSONValue?)] = [
            ("fetch", .string(fetch)),
            ("reused", isKnown ? .bool(isReusedConnection) : nil),
            ("protocol", networkProtocolName.map(JSONValue.string)),
            ("proxy", isKnown || isProxyConnection ? .bool(isProxyConnection) : nil),
            ("status", (response as? HTTPURLResponse).map { .count($0.statusCode) }),
            ("local_port", localPort.map(JSONValue.count)),
            ("remote_port", remotePort.map(JSONValue.count)),
            ("tls_version", negotiatedTLSProtocolVersion.flatMap(Self.name).map(JSONValue.string)),
        ]
        members += [
            ("request_header_bytes", .integer(countOfRequestHeaderBytesSent)),
            ("request_body_bytes", .integer(countOfRequestBodyBytesSent)),
            ("response_header_bytes", .integer(countOfResponseHeaderBytesReceived)),
            ("response_body_bytes", .integer(countOfResponseBodyBytesReceived)),
            ("ms", times),
        ]
        return .known(members)
    }

    /// When each step had ended, counted from the beginning of the exchange.
    private var times: JSONValue {
        .known([
            ("lookup", time(domainLookupEndDate)),
            ("connect", time(secureConnectionStartDate ?? connectEndDate)),
            ("tls", time(secureConnectionEndDate)),
            ("request", time(requestEndDate)),
            ("first_byte", time(responseStartDate)),
            ("end", time(responseEndDate)),
        ])
    }

    private func time(_ date: Date?) -> JSONValue? {
        guard let date, let start = fetchStartDate else { return nil }
        return .integer(milliseconds(date.timeIntervalSince(start)))
    }

    private var fetch: String {
        switch resourceFetchType {
        case .networkLoad: "network"
        case .localCache: "cache"
        case .unknown: "unknown"
        default: "push"
        }
    }

    private static func name(_ version: tls_protocol_version_t) -> String? {
        switch version {
        case .TLSv10: "1.0"
        case .TLSv11: "1.1"
        case .TLSv12: "1.2"
        case .TLSv13: "1.3"
        case .DTLSv10, .DTLSv12: nil
        }
    }
}

extension JSONValue {
    /// An object of the members that are known.
    fileprivate static func known(_ members: [(String, JSONValue?)]) -> JSONValue {
        .object(members.compactMap { name, value in value.map { JSONMember(name: name, value: $0) } })
    }
}

private func milliseconds(_ interval: TimeInterval) -> Int64 {
    Int64(exactly: (interval * 1000).rounded()) ?? 0
}
