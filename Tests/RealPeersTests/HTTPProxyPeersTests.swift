// squid and tinyproxy as the way out: plain requests, tunnels, passwords. What arrives at the server behind them, and
// what the metrics say, is the proof.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer

@Suite("squid", .enabled(if: Peers.squid != nil, "squid is not installed"))
struct SquidTests {
    @Test("B13.13, B12.17, B12.20: http through squid, by connections to squid that are kept")
    func plain() async throws {
        let squid = try await ProxyPeer.squid()
        let origin = try ProxiedServer(tls: false)
        let session = origin.session(through: squid.port)
        for number in 1...3 {
            let load = try await MeasuredLoad(session, origin.url("/hello?\(number)"))
            #expect(load.text.hasPrefix("/hello?\(number) via 1.1 peers.test (squid"), "\(load.text)")
            #expect(load.isProxied && load.port == squid.port)
            #expect(load.isReused == (number > 1))
        }
        session.invalidateAndCancel()
        await origin.server.stop()
    }

    @Test("B13.15, B13.33: https through squid's tunnels, one of which serves all requests to its server")
    func tunnel() async throws {
        let squid = try await ProxyPeer.squid()
        let (one, other) = (try ProxiedServer(tls: true), try ProxiedServer(tls: true))
        let session = one.session(through: squid.port)
        for number in 1...3 {
            let load = try await MeasuredLoad(session, one.url("/hello?\(number)"))
            #expect(load.text == "/hello?\(number) via nobody")
            #expect(load.isProxied && load.port == squid.port)
            #expect(load.isReused == (number > 1))
        }
        #expect(one.server.stats.connectionsAccepted == 1)
        // B13.21: the certificate is the server's matter, behind a proxy too.
        let error = await #expect(throws: URLError.self) { try await MeasuredLoad(session, other.url()) }
        #expect(error?.code == .serverCertificateUntrusted)
        session.invalidateAndCancel()
        await one.server.stop()
        await other.server.stop()
    }

    @Test("A body goes through squid, forwarded and tunnelled", arguments: [false, true])
    func upload(tls: Bool) async throws {
        let squid = try await ProxyPeer.squid()
        let origin = try ProxiedServer(tls: tls)
        let session = origin.session(through: squid.port)
        var request = URLRequest(url: try origin.url("/echo"))
        request.httpMethod = "POST"
        request.httpBody = Data(repeating: 0x78, count: 300_000)
        let load = try await MeasuredLoad(session, request)
        #expect(load.status == 200 && load.text.utf8.count == 300_000)
        session.invalidateAndCancel()
        await origin.server.stop()
    }

    @Test(
        "B2.100, B2.101: squid's password, by Basic and Digest, from the dictionary, forwarded and tunnelled",
        arguments: [ProxyPeer.Authentication.basic, .digest], [false, true])
    func password(authentication: ProxyPeer.Authentication, tls: Bool) async throws {
        let squid = try await ProxyPeer.squid(authentication)
        let origin = try ProxiedServer(tls: tls)
        let session = origin.session(through: squid.port, user: "user")
        for _ in 1...2 {
            let load = try await MeasuredLoad(session, origin.url())
            #expect(load.status == 200 && load.text.hasPrefix("/hello via "))
        }
        #expect(origin.server.stats.requests == 2, "B13.14: nothing of the rounds reaches the server")
        session.invalidateAndCancel()
        await origin.server.stop()
    }

    @Test(
        "B2.102: a wrong password for squid is a 407 for http, and −1013 with 311 underneath for https",
        arguments: [ProxyPeer.Authentication.basic, .digest])
    func wrongPassword(authentication: ProxyPeer.Authentication) async throws {
        let squid = try await ProxyPeer.squid(authentication)
        let (plain, secure) = (try ProxiedServer(tls: false), try ProxiedServer(tls: true))
        let session = secure.session(through: squid.port, user: "user", password: "wrong")
        let load = try await MeasuredLoad(session, plain.url())
        #expect(load.status == 407)
        let error = await #expect(throws: URLError.self) { try await MeasuredLoad(session, secure.url()) }
        #expect(error?.code == .userAuthenticationRequired)
        let cause = error?.userInfo[NSUnderlyingErrorKey] as? NSError
        #expect(cause?.domain == "kCFErrorDomainCFNetwork" && cause?.code == 311)
        #expect(cause?.userInfo[URLLoadingErrorDomain.proxyStatusKey] as? Int == 407)
        #expect(error?.localizedDescription.contains("wrong") == false)
        #expect(plain.server.stats.requests + secure.server.stats.requests == 0)
        session.invalidateAndCancel()
        await plain.server.stop()
        await secure.server.stop()
    }

    @Test(
        "B2.17, B2.100: squid answers 407 twice: after a wrong password the right one opens, forwarded and tunnelled",
        arguments: [ProxyPeer.Authentication.basic, .digest], [false, true])
    func secondPassword(authentication: ProxyPeer.Authentication, tls: Bool) async throws {
        let squid = try await ProxyPeer.squid(authentication)
        let origin = try ProxiedServer(tls: tls)
        let delegate = LearningDelegate()
        let session = origin.session(through: squid.port, delegate: delegate)
        for _ in 1...2 {
            let load = try await MeasuredLoad(session, origin.url())
            #expect(load.status == 200 && load.text.hasPrefix("/hello via "))
        }
        let method =
            authentication == .basic ? NSURLAuthenticationMethodHTTPBasic : NSURLAuthenticationMethodHTTPDigest
        #expect(delegate.questions.methods == ["\(method) at way out, 0", "\(method) at way out, 1"])
        #expect(origin.server.stats.requests == 2)
        session.invalidateAndCancel()
        await origin.server.stop()
    }

    @Test("B13.17: squid cannot reach the server behind a tunnel: −1004, with 311 and its status underneath")
    func refused() async throws {
        let squid = try await ProxyPeer.squid()
        let origin = try ProxiedServer(tls: true)
        let session = origin.session(through: squid.port)
        // A port below 1024 on which no server listens.
        let url = try #require(URL(string: "https://127.0.0.1:1/"))
        let error = await #expect(throws: URLError.self) { try await MeasuredLoad(session, url) }
        #expect(error?.code == .cannotConnectToHost && error?.failingURL == url)
        let cause = error?.userInfo[NSUnderlyingErrorKey] as? NSError
        #expect(cause?.code == 311)
        #expect(cause?.userInfo[URLLoadingErrorDomain.proxyStatusKey] as? Int == 503)
        session.invalidateAndCancel()
        await origin.server.stop()
    }

    @Test("B13.18: squid is gone: −1004, with 306 for http and 310 for https underneath")
    func gone() async throws {
        let squid = try await ProxyPeer.squid()
        squid.end()
        for (isSecure, code) in [(false, 306), (true, 310)] {
            let origin = try ProxiedServer(tls: isSecure)
            let session = origin.session(through: squid.port)
            let url = try origin.url()
            let error = await #expect(throws: URLError.self) { try await MeasuredLoad(session, url) }
            #expect(error?.code == .cannotConnectToHost && error?.failingURL == url)
            #expect((error?.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == code)
            #expect(error?.localizedDescription.contains("127.0.0.1:\(squid.port)") == true)
            session.invalidateAndCancel()
            await origin.server.stop()
        }
    }
}

/// Knows the password of a proxy at the second question.
private final class LearningDelegate: NSObject, URLSessionTaskDelegate, Sendable {
    let questions = AskedMethods()

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let (space, failures) = (challenge.protectionSpace, challenge.previousFailureCount)
        guard space.isProxy() else { return completionHandler(.performDefaultHandling, nil) }
        questions.note("\(space.authenticationMethod) at \(space.realm ?? "nowhere"), \(failures)")
        guard failures < 2 else { return completionHandler(.cancelAuthenticationChallenge, nil) }
        let password = failures == 0 ? "wrong" : "secret"
        completionHandler(.useCredential, URLCredential(user: "user", password: password, persistence: .forSession))
    }
}

@Suite("tinyproxy", .enabled(if: Peers.tinyproxy != nil, "tinyproxy is not installed"))
struct TinyproxyTests {
    @Test(
        "B12.17, B13.33: http and https through tinyproxy, which keeps tunnels and nothing else",
        arguments: [false, true])
    func get(tls: Bool) async throws {
        let proxy = try await ProxyPeer.tinyproxy()
        let origin = try ProxiedServer(tls: tls)
        let session = origin.session(through: proxy.port)
        for number in 1...2 {
            let load = try await MeasuredLoad(session, origin.url())
            #expect(load.text.hasPrefix(tls ? "/hello via nobody" : "/hello via 1.1 tinyproxy"), "\(load.text)")
            #expect(load.isProxied && load.port == proxy.port)
            #expect(load.isReused == (tls && number > 1))
        }
        #expect(origin.server.stats.connectionsAccepted == (tls ? 1 : 2))
        session.invalidateAndCancel()
        await origin.server.stop()
    }

    @Test("B2.100: tinyproxy's password by Basic, forwarded and tunnelled", arguments: [false, true])
    func password(tls: Bool) async throws {
        let proxy = try await ProxyPeer.tinyproxy(.basic)
        let origin = try ProxiedServer(tls: tls)
        let session = origin.session(through: proxy.port, user: "user")
        for _ in 1...2 { #expect(try await MeasuredLoad(session, origin.url()).status == 200) }
        session.invalidateAndCancel()
        await origin.server.stop()
    }

    @Test(
        "B2.102, B13.17: tinyproxy says 407 without a login and 401 to a wrong one; in place of a tunnel: −1013, −1004",
        arguments: [(nil, 407, URLError.Code.userAuthenticationRequired), ("user", 401, .cannotConnectToHost)])
    func wrongPassword(user: String?, status: Int, code: URLError.Code) async throws {
        let proxy = try await ProxyPeer.tinyproxy(.basic)
        let (plain, secure) = (try ProxiedServer(tls: false), try ProxiedServer(tls: true))
        let session = secure.session(through: proxy.port, user: user, password: "wrong")
        #expect(try await MeasuredLoad(session, plain.url()).status == status)
        let error = await #expect(throws: URLError.self) { try await MeasuredLoad(session, secure.url()) }
        #expect(error?.code == code)
        let cause = error?.userInfo[NSUnderlyingErrorKey] as? NSError
        #expect(cause?.code == 311)
        #expect(cause?.userInfo[URLLoadingErrorDomain.proxyStatusKey] as? Int == status)
        #expect(plain.server.stats.requests + secure.server.stats.requests == 0)
        session.invalidateAndCancel()
        await plain.server.stop()
        await secure.server.stop()
    }

    @Test("B13.18: tinyproxy is gone: −1004, with 306 for http and 310 for https underneath")
    func gone() async throws {
        let proxy = try await ProxyPeer.tinyproxy()
        proxy.end()
        for (isSecure, code) in [(false, 306), (true, 310)] {
            let origin = try ProxiedServer(tls: isSecure)
            let session = origin.session(through: proxy.port)
            let url = try origin.url()
            let error = await #expect(throws: URLError.self) { try await MeasuredLoad(session, url) }
            #expect(error?.code == .cannotConnectToHost)
            #expect((error?.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == code)
            session.invalidateAndCancel()
            await origin.server.stop()
        }
    }
}
