// The API of URLSessionTaskMetrics, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import Testing
import URLLoading

@Suite("The API of URLSessionTaskMetrics")
struct UrlsessiontaskmetricsSurface {
    @Test("URLSessionTaskMetrics.ResourceFetchType: raw values")
    @available(*, deprecated)
    func urlSessionTaskMetricsResourceFetchTypeRawValues() {
        let cases: [(URLSessionTaskMetrics.ResourceFetchType, Int)] = [
            (URLSessionTaskMetrics.ResourceFetchType.unknown, 0),
            (URLSessionTaskMetrics.ResourceFetchType.networkLoad, 1),
            (URLSessionTaskMetrics.ResourceFetchType.serverPush, 2),
            (URLSessionTaskMetrics.ResourceFetchType.localCache, 3),
        ]
        for (one, rawValue) in cases {
            #expect(one.rawValue == rawValue)
            #expect(URLSessionTaskMetrics.ResourceFetchType(rawValue: rawValue) == one)
        }
    }

    @Test("URLSessionTaskMetrics.DomainResolutionProtocol: raw values")
    func urlSessionTaskMetricsDomainResolutionProtocolRawValues() {
        let cases: [(URLSessionTaskMetrics.DomainResolutionProtocol, Int)] = [
            (URLSessionTaskMetrics.DomainResolutionProtocol.unknown, 0),
            (URLSessionTaskMetrics.DomainResolutionProtocol.udp, 1),
            (URLSessionTaskMetrics.DomainResolutionProtocol.tcp, 2),
            (URLSessionTaskMetrics.DomainResolutionProtocol.tls, 3),
            (URLSessionTaskMetrics.DomainResolutionProtocol.https, 4),
        ]
        for (one, rawValue) in cases {
            #expect(one.rawValue == rawValue)
            #expect(URLSessionTaskMetrics.DomainResolutionProtocol(rawValue: rawValue) == one)
        }
    }
}

/// Overrides everything that is open in `URLSessionTaskMetrics` by what does the same.
/// Safe to share: it has no state of its own.
class OverridingURLSessionTaskMetrics: URLSessionTaskMetrics, @unchecked Sendable {
    override var transactionMetrics: [URLSessionTaskTransactionMetrics] { super.transactionMetrics }

    override var taskInterval: DateInterval { super.taskInterval }

    override var redirectCount: Int { super.redirectCount }
}

/// Names the API of `URLSessionTaskMetrics`.
private func urlSessionTaskMetricsMembers() {
    let _: any (NSObject & Sendable).Type = URLSessionTaskMetrics.self
    let _: KeyPath<URLSessionTaskMetrics, [URLSessionTaskTransactionMetrics]> = \.transactionMetrics
    let _: KeyPath<URLSessionTaskMetrics, DateInterval> = \.taskInterval
    let _: KeyPath<URLSessionTaskMetrics, Int> = \.redirectCount
}

/// Names, as far as it is deprecated, the API of `URLSessionTaskMetrics`.
@available(*, deprecated)
private func urlSessionTaskMetricsDeprecatedmembers() {
    let _: () -> URLSessionTaskMetrics = URLSessionTaskMetrics.init
}

/// Names the API of `URLSessionTaskMetrics.ResourceFetchType`.
private func urlSessionTaskMetricsResourceFetchTypeMembers() {
    let _: any Sendable.Type = URLSessionTaskMetrics.ResourceFetchType.self
}

/// Names the API of `URLSessionTaskMetrics.DomainResolutionProtocol`.
private func urlSessionTaskMetricsDomainResolutionProtocolMembers() {
    let _: any Sendable.Type = URLSessionTaskMetrics.DomainResolutionProtocol.self
}
