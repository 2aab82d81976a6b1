// The code of docs/connections.md, which SampleTests looks for here block by block.

import Foundation
import URLLoading

/// A registry of a program's servers.
public protocol Registry: Sendable {
    /// The addresses of a host.
    func instances(of host: String) async throws -> [String]
}

/// Sets addresses in place of a look-up.
public func overrideHosts(_ configuration: URLSessionConfiguration) {
    configuration.hostOverrides = ["api.example": "192.0.2.7,192.0.2.8", "*:8443": "127.0.0.1"]
}

/// Has a registry asked where hosts are.
public func askRegistry(_ registry: any Registry, _ configuration: URLSessionConfiguration) {
    configuration.hostResolver = { host in
        let instances = try await registry.instances(of: host)
        return URLSessionConfiguration.HostAddresses(instances, timeToLive: 20)
    }
}

/// Has loads fail whose connection is not there after five seconds.
public func limitConnecting(_ configuration: URLSessionConfiguration) {
    configuration.timeoutIntervalForConnection = 5
}

/// Has the system ask silent servers whether they are there.
public func probe(_ configuration: URLSessionConfiguration) {
    configuration.connectionProbeInterval = 30
}

/// Has connections replaced that are five minutes old.
public func keepYoung(_ configuration: URLSessionConfiguration) {
    configuration.maximumConnectionLifetime = 300
}

/// Opens four connections to a server.
public func openBeforehand(_ url: URL, in session: URLSession) async throws -> Int {
    let ready = try await session.warmUp(url, connections: 4)
    return ready
}

/// Sends our name and password with the first request to a server.
public func introduce(as user: String, _ password: String, to url: URL, _ configuration: URLSessionConfiguration) {
    configuration.basicCredentialsSentAhead = [url: URLCredential(user: user, password: password, persistence: .none)]
}
