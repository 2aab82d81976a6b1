// The API of URLSessionTaskTransactionMetrics, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Overrides everything that is open in `URLSessionTaskTransactionMetrics` by what does the same.
/// Safe to share: it has no state of its own.
class OverridingURLSessionTaskTransactionMetrics: URLSessionTaskTransactionMetrics, @unchecked Sendable {
    override var request: URLRequest { super.request }

    override var response: URLResponse? { super.response }

    override var fetchStartDate: Date? { super.fetchStartDate }

    override var domainLookupStartDate: Date? { super.domainLookupStartDate }

    override var domainLookupEndDate: Date? { super.domainLookupEndDate }

    override var connectStartDate: Date? { super.connectStartDate }

    override var secureConnectionStartDate: Date? { super.secureConnectionStartDate }

    override var secureConnectionEndDate: Date? { super.secureConnectionEndDate }

    override var connectEndDate: Date? { super.connectEndDate }

    override var requestStartDate: Date? { super.requestStartDate }

    override var requestEndDate: Date? { super.requestEndDate }

    override var responseStartDate: Date? { super.responseStartDate }

    override var responseEndDate: Date? { super.responseEndDate }

    override var networkProtocolName: String? { super.networkProtocolName }

    override var isProxyConnection: Bool { super.isProxyConnection }

    override var isReusedConnection: Bool { super.isReusedConnection }

    override var resourceFetchType: URLSessionTaskMetrics.ResourceFetchType { super.resourceFetchType }

    override var countOfRequestHeaderBytesSent: Int64 { super.countOfRequestHeaderBytesSent }

    override var countOfRequestBodyBytesSent: Int64 { super.countOfRequestBodyBytesSent }

    override var countOfRequestBodyBytesBeforeEncoding: Int64 { super.countOfRequestBodyBytesBeforeEncoding }

    override var countOfResponseHeaderBytesReceived: Int64 { super.countOfResponseHeaderBytesReceived }

    override var countOfResponseBodyBytesReceived: Int64 { super.countOfResponseBodyBytesReceived }

    override var countOfResponseBodyBytesAfterDecoding: Int64 { super.countOfResponseBodyBytesAfterDecoding }

    override var localAddress: String? { super.localAddress }

    override var localPort: Int? { super.localPort }

    override var remoteAddress: String? { super.remoteAddress }

    override var remotePort: Int? { super.remotePort }

    override var negotiatedTLSProtocolVersion: tls_protocol_version_t? { super.negotiatedTLSProtocolVersion }

    override var negotiatedTLSCipherSuite: tls_ciphersuite_t? { super.negotiatedTLSCipherSuite }

    override var isCellular: Bool { super.isCellular }

    override var isExpensive: Bool { super.isExpensive }

    override var isConstrained: Bool { super.isConstrained }

    override var isMultipath: Bool { super.isMultipath }

    override var domainResolutionProtocol: URLSessionTaskMetrics.DomainResolutionProtocol {
        super.domainResolutionProtocol
    }
}

/// Names the API of `URLSessionTaskTransactionMetrics`.
private func urlSessionTaskTransactionMetricsMembers() {
    let _: any (NSObject & Sendable).Type = URLSessionTaskTransactionMetrics.self
    let _: KeyPath<URLSessionTaskTransactionMetrics, URLRequest> = \.request
    let _: KeyPath<URLSessionTaskTransactionMetrics, URLResponse?> = \.response
    let _: KeyPath<URLSessionTaskTransactionMetrics, Date?> = \.fetchStartDate
    let _: KeyPath<URLSessionTaskTransactionMetrics, Date?> = \.domainLookupStartDate
    let _: KeyPath<URLSessionTaskTransactionMetrics, Date?> = \.domainLookupEndDate
    let _: KeyPath<URLSessionTaskTransactionMetrics, Date?> = \.connectStartDate
    let _: KeyPath<URLSessionTaskTransactionMetrics, Date?> = \.secureConnectionStartDate
    let _: KeyPath<URLSessionTaskTransactionMetrics, Date?> = \.secureConnectionEndDate
    let _: KeyPath<URLSessionTaskTransactionMetrics, Date?> = \.connectEndDate
    let _: KeyPath<URLSessionTaskTransactionMetrics, Date?> = \.requestStartDate
    let _: KeyPath<URLSessionTaskTransactionMetrics, Date?> = \.requestEndDate
    let _: KeyPath<URLSessionTaskTransactionMetrics, Date?> = \.responseStartDate
    let _: KeyPath<URLSessionTaskTransactionMetrics, Date?> = \.responseEndDate
    let _: KeyPath<URLSessionTaskTransactionMetrics, String?> = \.networkProtocolName
    let _: KeyPath<URLSessionTaskTransactionMetrics, Bool> = \.isProxyConnection
    let _: KeyPath<URLSessionTaskTransactionMetrics, Bool> = \.isReusedConnection
    let _: KeyPath<URLSessionTaskTransactionMetrics, URLSessionTaskMetrics.ResourceFetchType> = \.resourceFetchType
    let _: KeyPath<URLSessionTaskTransactionMetrics, Int64> = \.countOfRequestHeaderBytesSent
    let _: KeyPath<URLSessionTaskTransactionMetrics, Int64> = \.countOfRequestBodyBytesSent
    let _: KeyPath<URLSessionTaskTransactionMetrics, Int64> = \.countOfRequestBodyBytesBeforeEncoding
    let _: KeyPath<URLSessionTaskTransactionMetrics, Int64> = \.countOfResponseHeaderBytesReceived
    let _: KeyPath<URLSessionTaskTransactionMetrics, Int64> = \.countOfResponseBodyBytesReceived
    let _: KeyPath<URLSessionTaskTransactionMetrics, Int64> = \.countOfResponseBodyBytesAfterDecoding
    let _: KeyPath<URLSessionTaskTransactionMetrics, String?> = \.localAddress
    let _: KeyPath<URLSessionTaskTransactionMetrics, Int?> = \.localPort
    let _: KeyPath<URLSessionTaskTransactionMetrics, String?> = \.remoteAddress
    let _: KeyPath<URLSessionTaskTransactionMetrics, Int?> = \.remotePort
    let _: KeyPath<URLSessionTaskTransactionMetrics, tls_protocol_version_t?> = \.negotiatedTLSProtocolVersion
    let _: KeyPath<URLSessionTaskTransactionMetrics, tls_ciphersuite_t?> = \.negotiatedTLSCipherSuite
    let _: KeyPath<URLSessionTaskTransactionMetrics, Bool> = \.isCellular
    let _: KeyPath<URLSessionTaskTransactionMetrics, Bool> = \.isExpensive
    let _: KeyPath<URLSessionTaskTransactionMetrics, Bool> = \.isConstrained
    let _: KeyPath<URLSessionTaskTransactionMetrics, Bool> = \.isMultipath
    let _: KeyPath<URLSessionTaskTransactionMetrics, URLSessionTaskMetrics.DomainResolutionProtocol> =
        \.domainResolutionProtocol
}

/// Names, as far as it is deprecated, the API of `URLSessionTaskTransactionMetrics`.
@available(*, deprecated)
private func urlSessionTaskTransactionMetricsDeprecatedmembers() {
    let _: () -> URLSessionTaskTransactionMetrics = URLSessionTaskTransactionMetrics.init
}
