// What credentials, protection spaces and challenges say of themselves (behaviour 2.2, 2.3, 2.6).

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingTrust

@testable import URLLoading

/// Takes answers and forgets them.
private final class ForgetfulSender: NSObject, URLAuthenticationChallengeSender {
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
    func cancel(_ challenge: URLAuthenticationChallenge) {}
    let wentOn = Signal()
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) { wentOn.fire() }
}

/// Archives securely and reads again.
private func archived<T: NSObject & NSSecureCoding>(_ object: T) throws -> T? {
    let data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
    return try NSKeyedUnarchiver.unarchivedObject(ofClass: T.self, from: data)
}

@Suite("Protection spaces")
struct ProtectionSpaceTests {
    private let server = URLProtectionSpace(
        host: "Example.test", port: 443, protocol: "https", realm: "files",
        authenticationMethod: NSURLAuthenticationMethodHTTPDigest)
    private let proxy = URLProtectionSpace(
        proxyHost: "proxy.test", port: 3128, type: NSURLProtectionSpaceHTTPProxy, realm: "way out",
        authenticationMethod: NSURLAuthenticationMethodHTTPBasic)

    @Test("B2.22, B2.23: a server's space and a proxy's")
    func members() {
        #expect((server.host, server.port, server.realm) == ("Example.test", 443, "files"))
        #expect(server.protocol == "https" && server.proxyType == nil && !server.isProxy())
        #expect(server.authenticationMethod == NSURLAuthenticationMethodHTTPDigest)
        #expect((proxy.host, proxy.port, proxy.realm) == ("proxy.test", 3128, "way out"))
        #expect(proxy.protocol == nil && proxy.proxyType == "http" && proxy.isProxy())
        #expect(URLProtectionSpace().host.isEmpty && URLProtectionSpace().port == 0)
    }

    @Test("B2.24: a port of 0 stays 0")
    func portZero() {
        let space = URLProtectionSpace(
            host: "a.test", port: 0, protocol: "http", realm: nil, authenticationMethod: nil)
        #expect(space.port == 0)
    }

    @Test("B2.25: an unknown method, or none, is the default one")
    func unknownMethods() {
        for method in [nil, "", "NSURLAuthenticationMethodUnheardOf", "basic"] {
            let space = URLProtectionSpace(
                host: "a.test", port: 80, protocol: "http", realm: nil, authenticationMethod: method)
            #expect(space.authenticationMethod == NSURLAuthenticationMethodDefault)
        }
        for method in [NSURLAuthenticationMethodHTMLForm, NSURLAuthenticationMethodNTLM] {
            let space = URLProtectionSpace(
                host: "a.test", port: 80, protocol: "http", realm: nil, authenticationMethod: method)
            #expect(space.authenticationMethod == method)
        }
    }

    @Test(
        "B2.26: receivesCredentialSecurely is true over TLS, and for methods that do not send the secret itself",
        arguments: [
            ("https", NSURLAuthenticationMethodHTTPBasic, true), ("https", NSURLAuthenticationMethodDefault, true),
            ("http", NSURLAuthenticationMethodHTTPBasic, false), ("http", NSURLAuthenticationMethodDefault, false),
            ("http", NSURLAuthenticationMethodHTMLForm, false), ("http", NSURLAuthenticationMethodHTTPDigest, true),
            ("http", NSURLAuthenticationMethodNTLM, true), ("http", NSURLAuthenticationMethodNegotiate, true),
            ("ftp", NSURLAuthenticationMethodClientCertificate, true),
            ("ftp", NSURLAuthenticationMethodServerTrust, true),
        ])
    func receivesSecurely(kind: String, method: String, isSecure: Bool) {
        let space = URLProtectionSpace(
            host: "a.test", port: 1, protocol: kind, realm: nil, authenticationMethod: method)
        #expect(space.receivesCredentialSecurely == isSecure)
        // The way to a proxy is not encrypted, whatever it is a proxy for.
        let proxy = URLProtectionSpace(
            proxyHost: "a.test", port: 1, type: kind, realm: nil, authenticationMethod: method)
        #expect(
            proxy.receivesCredentialSecurely == (isSecure && !method.hasSuffix("Basic") && !method.hasSuffix("ult")))
    }

    @Test(
        "B2.27, B2.19: only a space about server trust has a trust, and only one about a client certificate has issuers"
    )
    func connectionSpaces() throws {
        let chain = try CertificateFactory.root().issue(.server("a.test")).chain
        let trust = SecTrust(
            presented: chain, policy: TrustPolicy(host: HostName("a.test")), evaluator: SystemRootsEvaluator())
        let judged = URLProtectionSpace(serverTrust: trust, host: "a.test", port: 8443)
        #expect(judged.serverTrust === trust && judged.distinguishedNames == nil)
        #expect(judged.authenticationMethod == NSURLAuthenticationMethodServerTrust)
        let asked = URLProtectionSpace(distinguishedNames: [Data([1])], host: "a.test", port: 8443)
        #expect(asked.distinguishedNames == [Data([1])] && asked.serverTrust == nil)
        #expect(asked.authenticationMethod == NSURLAuthenticationMethodClientCertificate)
        for space in [judged, asked] {
            #expect((space.host, space.port, space.realm) == ("a.test", 8443, nil))
            #expect(space.protocol == "https" && !space.isProxy() && space.receivesCredentialSecurely)
        }
        #expect(server.serverTrust == nil && server.distinguishedNames == nil)
    }

    @Test("B2.28: equality covers every field, hosts with their case")
    func equality() {
        func space(
            _ host: String = "a.test", _ port: Int = 80, _ kind: String = "http", _ realm: String? = "r",
            _ method: String = NSURLAuthenticationMethodHTTPBasic
        ) -> URLProtectionSpace {
            URLProtectionSpace(host: host, port: port, protocol: kind, realm: realm, authenticationMethod: method)
        }
        #expect(space() == space() && space().hash == space().hash)
        #expect(Set([space(), space(), space("b.test")]).count == 2)
        for other in [
            space("A.test"), space("b.test"), space("a.test", 81), space("a.test", 80, "https"),
            space("a.test", 80, "http", nil), space("a.test", 80, "http", "R"),
            space("a.test", 80, "http", "r", NSURLAuthenticationMethodHTTPDigest),
            URLProtectionSpace(
                proxyHost: "a.test", port: 80, type: "http", realm: "r",
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic),
        ] {
            #expect(space() != other, "\(other)")
        }
    }

    @Test("A copy of a space is the space itself; an archive brings back everything but a trust")
    func copiesAndArchives() throws {
        #expect(server.copy() as? URLProtectionSpace === server)
        for space in [server, proxy, URLProtectionSpace(distinguishedNames: [Data([1, 2])], host: "a", port: 443)] {
            let read = try #require(try archived(space))
            #expect(read == space && read.distinguishedNames == space.distinguishedNames)
        }
    }

    @Test("A description names every field")
    func descriptions() {
        #expect(server.description.contains("Host:Example.test") && server.description.contains("Realm:files"))
        #expect(proxy.description.contains("Proxy:YES") && proxy.description.contains("Proxy-Type:http"))
        let plain = URLProtectionSpace(
            host: "example.test", port: 80, protocol: "http", realm: nil, authenticationMethod: "basic")
        #expect(plain.description.hasPrefix("<URLProtectionSpace: 0x"))
        #expect(
            plain.description.hasSuffix(
                ">: Host:example.test, Server:http, Auth-Scheme:NSURLAuthenticationMethodDefault, Realm:(null), Port:80, "
                    + "Proxy:NO, Proxy-Type:(null)"))
    }
}

@Suite("Credentials")
struct CredentialTests {
    private func identity(_ name: String = "somebody") throws -> (SecIdentity, SecCertificate) {
        let root = try CertificateFactory.root()
        return (SecIdentity(try root.issue(.client(name)).identity), SecCertificate(root.certificate))
    }

    private func trust() throws -> SecTrust {
        SecTrust(
            presented: try CertificateFactory.root().issue(.server("a.test")).chain, policy: TrustPolicy(host: nil),
            evaluator: SystemRootsEvaluator())
    }

    @Test("B2.50, B2.51: a credential holds a password, an identity or a trust")
    func kinds() throws {
        let password = URLCredential(user: "u", password: "p", persistence: .forSession)
        #expect((password.user, password.password, password.hasPassword) == ("u", "p", true))
        #expect(password.persistence == .forSession && password.identity == nil && password.trust == nil)
        let (own, above) = try identity()
        let certificate = URLCredential(
            identity: own, certificates: [above, "no certificate"], persistence: .permanent)
        #expect(certificate.identity == own && certificate.certificates.count == 1)
        #expect(certificate.certificates.first as? SecCertificate == above)
        #expect(certificate.user == nil && certificate.password == nil && !certificate.hasPassword)
        let trust = try trust()
        for credential in [URLCredential(trust: trust), URLCredential(forTrust: trust)] {
            #expect(credential.trust === trust && credential.identity == nil && credential.user == nil)
        }
    }

    @Test("B2.52: a credential without a password can be proposed")
    func withoutPassword() {
        let proposed = URLCredential(proposedUser: "u")
        #expect((proposed.user, proposed.password, proposed.hasPassword) == ("u", nil, false))
        #expect(URLCredential(user: "u", password: "", persistence: .none).hasPassword)
    }

    @Test("Equality is by content and persistence")
    func equality() throws {
        func password(_ text: String, _ persistence: URLCredential.Persistence = .forSession) -> URLCredential {
            URLCredential(user: "u", password: text, persistence: persistence)
        }
        #expect(password("p") == password("p") && password("p").hash == password("p").hash)
        #expect(password("p") != password("q") && password("p") != password("p", .permanent))
        let (own, above) = try identity()
        let plain = URLCredential(identity: own, certificates: nil, persistence: .none)
        #expect(plain == URLCredential(identity: own, certificates: [], persistence: .none))
        #expect(plain != URLCredential(identity: own, certificates: [above], persistence: .none))
        #expect(URLCredential(trust: try trust()) != URLCredential(trust: try trust()))
    }

    @Test("Archives bring a password back, and neither an identity nor a trust")
    func archives() throws {
        let password = URLCredential(user: "u", password: "p", persistence: .permanent)
        #expect(try archived(password) == password)
        #expect(password.copy() as? URLCredential === password)
        let (own, _) = try identity()
        for lost in [
            URLCredential(identity: own, certificates: nil, persistence: .forSession),
            URLCredential(trust: try trust()),
        ] {
            let read = try #require(try archived(lost))
            #expect(read.identity == nil && read.trust == nil && read.user == nil && read != lost)
        }
    }

    @Test("No description shows a password or a key")
    func descriptions() throws {
        let password = URLCredential(user: "visible", password: "hunter2", persistence: .none)
        let (own, _) = try identity()
        let certificate = URLCredential(identity: own, certificates: nil, persistence: .none)
        for credential in [password, certificate] {
            for text in ["\(credential)", credential.debugDescription, String(reflecting: credential)] {
                #expect(!text.contains("hunter2") && !text.contains("PRIVATE"), "\(text)")
            }
        }
        #expect("\(password)".contains("visible") && "\(certificate)".contains("somebody"))
    }
}

@Suite("Challenges as values")
struct ChallengeValueTests {
    @Test("B2.13: a challenge tells space, credential, failures, response, error and sender")
    func members() throws {
        let space = URLProtectionSpace(
            host: "a.test", port: 80, protocol: "http", realm: nil, authenticationMethod: nil)
        let credential = URLCredential(user: "u", password: "p", persistence: .none)
        let url = try #require(URL(string: "http://a.test"))
        let response = try #require(
            HTTPURLResponse(url: url, statusCode: 401, httpVersion: nil, headerFields: nil))
        let sender = ForgetfulSender()
        let challenge = URLAuthenticationChallenge(
            protectionSpace: space, proposedCredential: credential, previousFailureCount: 2, failureResponse: response,
            error: URLError(.timedOut), sender: sender)
        let other = ForgetfulSender()
        let passedOn = URLAuthenticationChallenge(authenticationChallenge: challenge, sender: other)
        for (one, sender) in [(challenge, sender), (passedOn, other)] {
            #expect(one.protectionSpace == space && one.proposedCredential == credential)
            #expect(one.previousFailureCount == 2 && one.failureResponse === response)
            #expect((one.error as? URLError)?.code == .timedOut && one.sender === sender)
        }
        let read = try #require(try archived(challenge))
        #expect(read.protectionSpace == space && read.proposedCredential == credential && read.sender == nil)
        #expect(read.previousFailureCount == 2 && read.failureResponse == response)
        #expect((read.error as NSError?)?.code == NSURLErrorTimedOut)
    }

    @Test("A sender without the optional methods goes on without a credential")
    func optionalMethods() {
        let sender = ForgetfulSender()
        let challenge = URLAuthenticationChallenge(
            protectionSpace: URLProtectionSpace(), proposedCredential: nil, previousFailureCount: 0,
            failureResponse: nil, error: nil, sender: sender)
        sender.performDefaultHandling(for: challenge)
        #expect(sender.wentOn.count == 1)
        sender.rejectProtectionSpaceAndContinue(with: challenge)
        #expect(sender.wentOn.count == 2)
    }
}
