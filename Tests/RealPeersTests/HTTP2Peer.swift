// The servers of other people that speak HTTP/2, by name. Each is started by HTTP2PeerServer.

import Testing

/// A server of HTTP/2, or one in front of another.
enum HTTP2Peer: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case nginx
    case apache = "Apache with mod_http2"
    case h2o
    case haproxy = "HAProxy"
    /// The one that has nothing behind it: files, and bodies that come back.
    case nghttpd
    /// HTTP/2 on both sides of HAProxy, of which TLS is on ours.
    case nghttpdBehindHAProxy = "nghttpd behind HAProxy"
    /// Inside a tunnel.
    case nginxThroughTinyproxy = "nginx through tinyproxy"
    case h2oThroughSquid = "h2o through squid"

    var testDescription: String { rawValue }

    /// Whether it passes requests on to an origin of the test's.
    var passesOn: Bool { self != .nghttpd && self != .nghttpdBehindHAProxy }

    /// Whether it passes on a hundred requests of a connection before it has an answer to one. Apache begins with six.
    var passesOnAHundred: Bool { passesOn && self != .apache }

    /// Whether the trailers of an origin of HTTP/1.1 come through it.
    var passesTrailersOn: Bool {
        switch self {
        case .apache, .haproxy, .nghttpd, .nghttpdBehindHAProxy: true
        case .nginx, .h2o, .nginxThroughTinyproxy, .h2oThroughSquid: false
        }
    }

    /// Whether it sends RST_STREAM only along with what it has to send next, as nginx 1.22 does
    /// while other streams are open.
    var holdsResetsBack: Bool { self == .nginx || self == .nginxThroughTinyproxy }

    /// Skips this case of a test where a program is not installed, and says so, which skipping alone does not.
    func require() throws {
        let programs: [(name: String, path: String?)] =
            switch self {
            case .nginx: [("nginx", Peers.nginx)]
            case .apache: [("apache2", Peers.apache)]
            case .h2o: [("h2o", Peers.h2o)]
            case .haproxy: [("haproxy", Peers.haproxy)]
            case .nghttpd: [("nghttpd", Peers.nghttpd)]
            case .nghttpdBehindHAProxy: [("haproxy", Peers.haproxy), ("nghttpd", Peers.nghttpd)]
            case .nginxThroughTinyproxy: [("nginx", Peers.nginx), ("tinyproxy", Peers.tinyproxy)]
            case .h2oThroughSquid: [("h2o", Peers.h2o), ("squid", Peers.squid)]
            }
        for program in programs where program.path == nil {
            Issue.record("skipped: \(program.name) is not installed", severity: .warning)
            try Test.cancel("\(program.name) is not installed")
        }
    }
}
