// The API of ProxyConfiguration, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Names the API of `ProxyConfiguration`.
private func proxyConfigurationMembers(of one: ProxyConfiguration) {
    let _: (NWEndpoint, NWProtocolTLS.Options?) -> ProxyConfiguration = ProxyConfiguration.init(
        httpCONNECTProxy:tlsOptions:)
    let _: (NWEndpoint) -> ProxyConfiguration = ProxyConfiguration.init(socksv5Proxy:)
    let _: (String, String) -> Void = {
        var one = one; return one.applyCredential(username: $0, password: $1)
    }
    let _: WritableKeyPath<ProxyConfiguration, [String]> = \.matchDomains
    let _: WritableKeyPath<ProxyConfiguration, [String]> = \.excludedDomains
    let _: WritableKeyPath<ProxyConfiguration, Bool> = \.allowFailover
}
