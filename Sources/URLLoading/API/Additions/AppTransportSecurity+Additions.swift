// App Transport Security as a value: Apple's dictionary, which there is no Info.plist for on Linux (B3.85).

import Foundation
import URLLoadingEngine
import URLLoadingTLS
import URLLoadingTrust

extension URLSessionConfiguration {
    /// Ours: what every connection of a session must be like, its redirects included, in the words of Apple's
    /// `NSAppTransportSecurity`. Plain http fails with
    /// `URLError.appTransportSecurityRequiresSecureConnection`, what TLS lacks with `URLError.secureConnectionFailed`;
    /// no answer of a delegate changes that (B3.77).
    ///
    /// A server is judged by the session's `serverTrustEvaluation`; one that accepts every
    /// certificate does not satisfy this.
    public struct AppTransportSecurity: Sendable, Equatable {
        let rules: TransportSecurity

        /// TLS 1.2 or later, forward secrecy and AES for every host (B3.76).
        public init() {
            rules = TransportSecurity(general: .init(), exemptsLocalHosts: false, exceptions: [:], pins: [:])
        }

        /// Reads the value of `NSAppTransportSecurity`.
        ///
        /// Known are `NSAllowsArbitraryLoads`, `NSAllowsArbitraryLoadsForMedia`, `NSAllowsArbitraryLoadsInWebContent`,
        /// `NSAllowsLocalNetworking`, `NSExceptionDomains` and `NSPinnedDomains` with what stands in them. Everything
        /// else throws an `AppTransportSecurityError`: a misspelt demand would not protect anything.
        public init(dictionary: [String: Any]) throws {
            rules = try TransportSecurityReader.read(dictionary)
        }
    }

    /// Ours: what is wrong with a dictionary of App Transport Security.
    public struct AppTransportSecurityError: LocalizedError, Equatable, CustomStringConvertible {
        /// One sentence with the path of the key, as `NSExceptionDomains.example.com.NSIncludesSubdomains`.
        public let description: String

        /// The sentence of `description`.
        public var errorDescription: String? { description }
    }
}

/// Reads Apple's dictionary.
private enum TransportSecurityReader {
    typealias Problem = URLSessionConfiguration.AppTransportSecurityError

    static func read(_ dictionary: [String: Any]) throws(Problem) -> TransportSecurity {
        var top = Section(dictionary, path: "")
        let anything = try top.flag("NSAllowsArbitraryLoads") ?? false
        let media = try top.flag("NSAllowsArbitraryLoadsForMedia")
        let web = try top.flag("NSAllowsArbitraryLoadsInWebContent")
        let local = try top.flag("NSAllowsLocalNetworking")
        // B3.80: where a finer key is set the coarse one does not count.
        let isFine = media != nil || web != nil || local != nil
        let exceptions = try top.sections("NSExceptionDomains", domainDemands)
        let pins = try top.sections("NSPinnedDomains", domainPins)
        try top.refuseRest()
        return TransportSecurity(
            general: anything && !isFine ? nil : .init(), exemptsLocalHosts: local ?? false, exceptions: exceptions,
            pins: pins)
    }

    private static func domainDemands(_ section: inout Section) throws(Problem) -> TransportSecurity.Demands {
        var demands = TransportSecurity.Demands()
        demands.allowsInsecureLoads = try section.flag("NSExceptionAllowsInsecureHTTPLoads") ?? false
        demands.requiresForwardSecrecy = try section.flag("NSExceptionRequiresForwardSecrecy") ?? true
        if let text = try section.text("NSExceptionMinimumTLSVersion") {
            guard let version = versions[text] else {
                throw section.problem("NSExceptionMinimumTLSVersion", "is not one of \(versions.keys.sorted())")
            }
            demands.minimumVersion = version
        }
        return demands
    }

    private static func domainPins(_ section: inout Section) throws(Problem) -> PinnedIdentities {
        let authorities = try section.pins("NSPinnedCAIdentities")
        let leaves = try section.pins("NSPinnedLeafIdentities")
        if authorities == nil, leaves == nil {
            throw section.problem("NSPinnedCAIdentities", "is missing, and so is NSPinnedLeafIdentities")
        }
        do throws(CertificateError) {
            return try PinnedIdentities(leaves: leaves, authorities: authorities)
        } catch {
            throw section.problem(nil, "cannot be used: \(error.description)")
        }
    }

    private static let versions: [String: TLSVersion] = [
        "TLSv1.0": .v10, "TLSv1.1": .v11, "TLSv1.2": .v12, "TLSv1.3": .v13,
    ]
}

/// One dictionary of the whole, and what has not been read of it.
private struct Section {
    typealias Problem = URLSessionConfiguration.AppTransportSecurityError

    private var rest: [String: Any]
    private let path: String

    init(_ dictionary: [String: Any], path: String) {
        rest = dictionary
        self.path = path
    }

    func problem(_ key: String?, _ what: String) -> Problem {
        let place = [path, key ?? ""].filter { !$0.isEmpty }.joined(separator: ".")
        return Problem(description: "\(place.isEmpty ? "NSAppTransportSecurity" : place) \(what).")
    }

    mutating func flag(_ key: String) throws(Problem) -> Bool? {
        guard let value = rest.removeValue(forKey: key) else { return nil }
        if let flag = value as? Bool { return flag }
        throw problem(key, "is no Boolean")
    }

    mutating func text(_ key: String) throws(Problem) -> String? {
        guard let value = rest.removeValue(forKey: key) else { return nil }
        if let text = value as? String { return text }
        throw problem(key, "is no text")
    }

    /// A list of `SPKI-SHA256-BASE64`.
    mutating func pins(_ key: String) throws(Problem) -> [String]? {
        guard let value = rest.removeValue(forKey: key) else { return nil }
        guard let list = value as? [[String: Any]] else { throw problem(key, "is no array of dictionaries") }
        var pins: [String] = []
        for entry in list {
            guard entry.count == 1, let pin = entry["SPKI-SHA256-BASE64"] as? String else {
                throw problem(key, "has an entry with anything but an SPKI-SHA256-BASE64")
            }
            pins.append(pin)
        }
        return pins
    }

    /// A dictionary of domains.
    mutating func sections<Value>(
        _ key: String, _ read: (inout Section) throws(Problem) -> Value
    ) throws(Problem) -> [TransportSecurity.Domain: Value] {
        guard let value = rest.removeValue(forKey: key) else { return [:] }
        guard let domains = value as? [String: Any] else { throw problem(key, "is no dictionary") }
        var result: [TransportSecurity.Domain: Value] = [:]
        for (name, content) in domains {
            guard let dictionary = content as? [String: Any] else {
                throw problem("\(key).\(name)", "is no dictionary")
            }
            var section = Section(dictionary, path: "\(key).\(name)")
            let below = try section.flag("NSIncludesSubdomains") ?? false
            let domain = try section.domain(name, andBelow: below)
            let value = try read(&section)
            try section.refuseRest()
            result[domain] = value
        }
        return result
    }

    func refuseRest() throws(Problem) {
        guard let key = rest.keys.sorted().first else { return }
        throw problem(key, "is not known")
    }

    /// A lower-case name without port and wildcard, an address, or a range of addresses (B3.82).
    private func domain(_ name: String, andBelow below: Bool) throws(Problem) -> TransportSecurity.Domain {
        if let slash = name.firstIndex(of: "/") {
            guard case .ip(let start) = HostName(String(name[..<slash])),
                let bits = Int(name[name.index(after: slash)...]), (0...start.count * 8).contains(bits)
            else { throw problem(nil, "is no range of addresses") }
            return .range(start, bits: bits)
        }
        guard name == name.lowercased(), let pattern = try? HostPattern(checking: name.withHostsInASCII),
            case .host(let host) = pattern
        else { throw problem(nil, "is no host: a name in lower case without scheme, port and wildcard is wanted") }
        return .host(host, andBelow: below)
    }
}
