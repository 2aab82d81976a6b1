// Dante, OpenSSH and microsocks as the way out: SOCKS4, 4A and 5, names looked up here and there, passwords.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer

/// A session that goes through a proxy that a URL names.
private func session(_ origin: ProxiedServer, through proxy: String) throws -> URLSession {
    let configuration = try #require(ProxyConfiguration(url: proxy))
    return origin.session { $0.proxyConfigurations = [configuration] }
}

/// Loads through a proxy that a URL names.
private func load(_ origin: ProxiedServer, _ url: URL, through proxy: String) async throws -> String {
    let session = try session(origin, through: proxy)
    defer { session.invalidateAndCancel() }
    return String(decoding: try await session.data(from: url).0, as: UTF8.self)
}

/// Loads twice from a host by http and by https, through one tunnel each.
private func expectTunnels(to host: String, through scheme: String, _ port: Int) async throws {
    for isSecure in [false, true] {
        let origin = try ProxiedServer(tls: isSecure)
        let session = try session(origin, through: "\(scheme)://127.0.0.1:\(port)")
        for number in 1...2 {
            let load = try await MeasuredLoad(session, origin.url(host: host))
            #expect(load.text == "/hello via nobody")
            #expect(load.isProxied && load.port == port)
            #expect(load.isReused == (number > 1))
        }
        #expect(origin.server.stats.connectionsAccepted == 1)
        session.invalidateAndCancel()
        await origin.server.stop()
    }
}

/// Loads by http and by https through a proxy that has ended.
private func expectGone(_ proxy: ProxyPeer, _ schemes: [String]) async throws {
    proxy.end()
    for scheme in schemes {
        for isSecure in [false, true] {
            let origin = try ProxiedServer(tls: isSecure)
            let url = try origin.url()
            let error = await #expect(throws: URLError.self) {
                try await load(origin, url, through: "\(scheme)://127.0.0.1:\(proxy.port)")
            }
            #expect(error?.code == .cannotConnectToHost && error?.failingURL == url)
            await origin.server.stop()
        }
    }
}

@Suite("Dante", .enabled(if: Peers.danted != nil, "dante-server is not installed"))
struct DanteTests {
    // Dante has SOCKS4 without the A: it takes 0.0.0.1 for the address that is meant, and never reads the name.
    @Test(
        "B13.22, B13.24 to B13.26, B13.33: http and https through Dante, to an address and to a name",
        arguments: ["socks4", "socks5", "socks5h"])
    func get(scheme: String) async throws {
        let dante = try await ProxyPeer.dante()
        for host in ["127.0.0.1", "localhost"] {
            try await expectTunnels(to: host, through: scheme, dante.port)
        }
    }

    @Test("B13.22, B13.27: a name by SOCKS4A, which Dante does not know, is refused with 110")
    func nameBySOCKS4() async throws {
        let dante = try await ProxyPeer.dante()
        let origin = try ProxiedServer(tls: false)
        let url = try origin.url(host: "localhost")
        let error = await #expect(throws: URLError.self) {
            try await load(origin, url, through: "socks4a://127.0.0.1:\(dante.port)")
        }
        #expect(error?.code == .cannotConnectToHost)
        #expect((error?.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == 110)
    }

    @Test("B13.18: Dante is gone: −1004")
    func gone() async throws {
        try await expectGone(ProxyPeer.dante(), ["socks4", "socks5h"])
    }

    @Test(
        "B13.24, B13.27: Dante with a password: the right one, a wrong one, none",
        .enabled(if: Peers.allowsNamespaces, "no namespaces here"))
    func password() async throws {
        let dante = try await ProxyPeer.dante(asks: true)
        let origin = try ProxiedServer(tls: true)
        let url = try origin.url()
        for (server, scheme) in [(origin, "socks5"), (origin, "socks5h"), (try ProxiedServer(tls: false), "socks5h")] {
            let way = "\(scheme)://user:secret@127.0.0.1:\(dante.port)"
            #expect(try await load(server, server.url(), through: way) == "/hello via nobody")
        }
        for (user, code) in [("user:wrong@", 122), ("", 124)] {
            let error = await #expect(throws: URLError.self) {
                try await load(origin, url, through: "socks5h://\(user)127.0.0.1:\(dante.port)")
            }
            #expect(error?.code == .userAuthenticationRequired)
            #expect((error?.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == code)
        }
    }

    @Test(
        "B13.27: what Dante cannot reach is −1004 with the code of its version of SOCKS underneath",
        arguments: [
            ("socks4a", 110), ("socks5h", 120),
        ])
    func refused(scheme: String, code: Int) async throws {
        let dante = try await ProxyPeer.dante()
        let origin = try ProxiedServer(tls: false)
        // A port below 1024 on which no server listens.
        let url = try #require(URL(string: "http://127.0.0.1:1/"))
        let error = await #expect(throws: URLError.self) {
            try await load(origin, url, through: "\(scheme)://127.0.0.1:\(dante.port)")
        }
        #expect(error?.code == .cannotConnectToHost)
        #expect((error?.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == code)
        #expect(error?.failingURL == url)
    }
}

@Suite("OpenSSH", .enabled(if: Peers.ssh != nil, "openssh-server is not installed, or no namespaces here"))
struct OpenSSHTests {
    @Test(
        "B13.22 to B13.26, B13.33: http and https through ssh -D by every version of SOCKS, to an address and to a name",
        arguments: ["socks4", "socks4a", "socks5", "socks5h"])
    func get(scheme: String) async throws {
        let proxy = try await ProxyPeer.openSSH()
        for host in ["127.0.0.1", "localhost"] {
            try await expectTunnels(to: host, through: scheme, proxy.port)
        }
    }

    @Test("B13.18: ssh is gone: −1004")
    func gone() async throws {
        try await expectGone(ProxyPeer.openSSH(), ["socks4a"])
    }
}

@Suite("microsocks", .enabled(if: Peers.microsocks != nil, "microsocks is not installed"))
struct MicrosocksTests {
    @Test("B13.24: SOCKS5 with a password, from the URL and from the dictionary")
    func password() async throws {
        let proxy = try await ProxyPeer.microsocks(asks: true)
        let origin = try ProxiedServer(tls: true)
        let text = try await load(origin, origin.url(), through: "socks5h://user:secret@127.0.0.1:\(proxy.port)")
        #expect(text == "/hello via nobody")
        let session = origin.session { configuration in
            configuration.connectionProxyDictionary = [
                "SOCKSEnable": 1, "SOCKSProxy": "127.0.0.1", "SOCKSPort": proxy.port,
                kCFStreamPropertySOCKSUser: "user", kCFStreamPropertySOCKSPassword: "secret",
                kCFStreamPropertySOCKSVersion: StreamSOCKSProxyVersion.version5,
            ]
        }
        let (data, _) = try await session.data(from: origin.url())
        #expect(String(decoding: data, as: UTF8.self) == "/hello via nobody")
        session.invalidateAndCancel()
    }

    @Test(
        "B13.27: a wrong password is −1013 with 122 underneath, none at all −1013 with 124",
        arguments: [
            ("user:wrong@", 122), ("", 124),
        ])
    func wrongPassword(userInformation: String, code: Int) async throws {
        let proxy = try await ProxyPeer.microsocks(asks: true)
        let origin = try ProxiedServer(tls: false)
        let url = try origin.url()
        let error = await #expect(throws: URLError.self) {
            try await load(origin, url, through: "socks5h://\(userInformation)127.0.0.1:\(proxy.port)")
        }
        #expect(error?.code == .userAuthenticationRequired)
        #expect((error?.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == code)
        #expect(error?.localizedDescription.contains("wrong") == false)
    }

    @Test("B13.24, B13.33: SOCKS5 without a password, http and https", arguments: ["socks5", "socks5h"])
    func open(scheme: String) async throws {
        let proxy = try await ProxyPeer.microsocks(asks: false)
        try await expectTunnels(to: "127.0.0.1", through: scheme, proxy.port)
    }

    @Test("B13.18: microsocks is gone: −1004")
    func gone() async throws {
        try await expectGone(ProxyPeer.microsocks(asks: false), ["socks5h"])
    }
}
