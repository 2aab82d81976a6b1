// The API of NWEndpoint, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Names the API of `NWEndpoint`.
private func nwEndpointMembers() {
    let _: any (Hashable & Sendable).Type = NWEndpoint.self
    let _: (NWEndpoint.Host, NWEndpoint.Port) -> NWEndpoint = NWEndpoint.hostPort(host:port:)
}

/// Names the API of `NWEndpoint.Host`.
private func nwEndpointHostMembers() {
    let _: any ExpressibleByStringLiteral.Type = NWEndpoint.Host.self
    let _: (String) -> NWEndpoint.Host = NWEndpoint.Host.init(_:)
}

/// Names the API of `NWEndpoint.Port`.
private func nwEndpointPortMembers() {
    let _: any (ExpressibleByIntegerLiteral & RawRepresentable).Type = NWEndpoint.Port.self
    let _: (UInt16) -> NWEndpoint.Port? = NWEndpoint.Port.init(rawValue:)
    let _: (String) -> NWEndpoint.Port? = NWEndpoint.Port.init(_:)
    let _: KeyPath<NWEndpoint.Port, UInt16> = \.rawValue
    let _: NWEndpoint.Port = NWEndpoint.Port.http
    let _: NWEndpoint.Port = NWEndpoint.Port.https
    let _: NWEndpoint.Port = NWEndpoint.Port.socks
}
