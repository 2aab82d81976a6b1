// The code of docs/trust.md, which SampleTests compares with that document block by block.

import Foundation
import URLLoading

/// My development server: the certificate that its tool has made is believed on this machine and nowhere else.
public func trustDevelopmentServer(_ file: URL, in configuration: URLSessionConfiguration) throws {
    let certificate = try String(contentsOf: file, encoding: .utf8)
    configuration.serverTrustEvaluation = .perHost(
        ["localhost": .anchors(pem: certificate), "127.0.0.1": .anchors(pem: certificate)], otherwise: .system)
}

/// Our own authority: it speaks for our hosts, the system's roots for all others.
public func trustOurAuthority(_ file: URL, in configuration: URLSessionConfiguration) throws {
    let authority = try String(contentsOf: file, encoding: .utf8)
    configuration.serverTrustEvaluation = .perHost(
        ["*.corp.example": .anchors(pem: authority)], otherwise: .system)
}

/// Our key is pinned, and with it the one that lies in the safe: its server may show no other.
public func pinOurKey(_ current: String, reserve: String, in configuration: URLSessionConfiguration) {
    configuration.serverTrustEvaluation = .perHost(
        ["api.corp.example": .pinnedKeys([current, reserve])], otherwise: .system)
}

/// Our key is pinned, below an authority of our own.
public func pinOurKey(
    _ current: String, reserve: String, below authority: String, in configuration: URLSessionConfiguration
) {
    configuration.serverTrustEvaluation = .perHost(
        ["api.corp.example": .pinnedKeys([current, reserve], besides: .anchors(pem: authority))], otherwise: .system)
}

/// Our certificate, for the servers that ask for one.
public func showOurCertificate(
    _ certificates: String, key: String, passphrase: String?, in configuration: URLSessionConfiguration
) throws {
    let identity = try URLSessionConfiguration.ClientIdentity.pem(
        certificates: certificates, key: key, passphrase: passphrase)
    configuration.clientIdentities = try .perHost(["*.corp.example": identity])
}

/// One odd host: exactly the certificate that it has, for exactly this name.
public func trustOddHost(_ file: URL, in configuration: URLSessionConfiguration) throws {
    let certificate = try String(contentsOf: file, encoding: .utf8)
    configuration.serverTrustEvaluation = .selfSigned(.pem(certificate), host: "printer.corp.example")
}

/// Rules of form as well.
public func judgeStrictly(in configuration: URLSessionConfiguration) {
    configuration.serverTrustEvaluation = .system.judgingStrictly()
}

/// Nothing without TLS, whatever a delegate says, but for one old host.
public func demandTLS(in configuration: URLSessionConfiguration) throws {
    configuration.appTransportSecurity = try URLSessionConfiguration.AppTransportSecurity(dictionary: [
        "NSExceptionDomains": ["old.corp.example": ["NSExceptionAllowsInsecureHTTPLoads": true]]
    ])
}
