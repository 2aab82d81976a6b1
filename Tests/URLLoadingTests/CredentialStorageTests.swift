// Where credentials are kept (behaviour 2.6), as far as no server has to ask for them.

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingTestSupport
import URLLoadingTrust

@testable import URLLoading

@Suite("Credential storage", .timeLimit(.minutes(5)))
struct CredentialStorageTests {
    private let storage = URLCredentialStorage()
    private let space = CredentialStorageTests.space()

    private static func space(
        _ host: String = "a.test", _ port: Int = 80, _ kind: String = "http", _ realm: String? = "r",
        _ method: String? = NSURLAuthenticationMethodHTTPBasic
    ) -> URLProtectionSpace {
        URLProtectionSpace(host: host, port: port, protocol: kind, realm: realm, authenticationMethod: method)
    }

    private func credential(
        _ user: String = "u", _ password: String = "p", _ persistence: URLCredential.Persistence = .forSession
    ) -> URLCredential {
        URLCredential(user: user, password: password, persistence: persistence)
    }

    @Test("B2.28, B2.64: a realm of other bytes is another one, also where Unicode takes both for equal")
    func realmsByBytes() {
        let other = Self.space("a.test", 80, "http", "e\u{301}")
        let space = Self.space("a.test", 80, "http", "\u{E9}")
        #expect(space != other && space == Self.space("a.test", 80, "http", "\u{E9}"))
        storage.set(credential(), for: space)
        #expect(storage.defaultCredential(for: other) == nil && storage.defaultCredential(for: space) != nil)
    }

    @Test("B2.53, B2.56: credentials with persistence .none or .synchronizable are not kept")
    func notKept() {
        for persistence in [URLCredential.Persistence.none, .synchronizable] {
            storage.set(credential("u", "p", persistence), for: space)
            storage.setDefaultCredential(credential("u", "p", persistence), for: space)
        }
        #expect(storage.credentials(for: space) == nil && storage.defaultCredential(for: space) == nil)
        #expect(storage.allCredentials.isEmpty)
    }

    @Test(
        "B2.54, B2.55: credentials with persistence .forSession or .permanent are kept in the memory of this storage alone"
    )
    func kept() {
        for persistence in [URLCredential.Persistence.forSession, .permanent] {
            storage.set(credential("\(persistence)", "p", persistence), for: space)
        }
        #expect(storage.credentials(for: space)?.count == 2)
        #expect(URLCredentialStorage().credentials(for: space) == nil)
    }

    @Test("B2.57: a credential that holds a trust is not kept")
    func trust() throws {
        let trust = SecTrust(
            presented: try CertificateFactory.root().issue(.server("a.test")).chain, policy: TrustPolicy(host: nil),
            evaluator: SystemRootsEvaluator())
        storage.set(URLCredential(trust: trust), for: space)
        #expect(storage.allCredentials.isEmpty)
    }

    @Test("B2.58: a user's new credential replaces the old one; those of other users stay")
    func users() {
        storage.set(credential("u", "old"), for: space)
        storage.set(credential("u", "new"), for: space)
        storage.set(credential("v", "other"), for: space)
        #expect(storage.credentials(for: space) == ["u": credential("u", "new"), "v": credential("v", "other")])
        #expect(storage.allCredentials == [space: ["u": credential("u", "new"), "v": credential("v", "other")]])
    }

    @Test("B2.59: without credentials the answer is nil, also after the last was removed")
    func none() {
        #expect(storage.credentials(for: space) == nil)
        storage.set(credential(), for: space)
        storage.remove(credential(), for: space)
        #expect(storage.credentials(for: space) == nil && storage.allCredentials.isEmpty)
    }

    @Test("B2.60: the first credential is the default until another one is set; a removed default has no successor")
    func defaults() {
        storage.set(credential("u"), for: space)
        #expect(storage.defaultCredential(for: space) == credential("u"))
        storage.set(credential("v"), for: space)
        #expect(storage.defaultCredential(for: space) == credential("u"))
        storage.setDefaultCredential(credential("w"), for: space)
        #expect(storage.defaultCredential(for: space) == credential("w"))
        storage.remove(credential("w"), for: space)
        #expect(storage.defaultCredential(for: space) == nil && storage.credentials(for: space)?.count == 2)
    }

    @Test("B2.61: the default credential is also among the space's credentials")
    func defaultIsKept() {
        storage.setDefaultCredential(credential("w"), for: space)
        #expect(storage.credentials(for: space) == ["w": credential("w")])
    }

    @Test("B2.62: removing what is not kept changes nothing")
    func removal() {
        storage.set(credential("u", "p"), for: space)
        storage.remove(credential("u", "another"), for: space)
        storage.remove(credential("v"), for: space)
        storage.remove(credential("u", "p"), for: Self.space("b.test"))
        storage.remove(
            credential("u", "p", .synchronizable), for: space,
            options: [NSURLCredentialStorageRemoveSynchronizableCredentials: true])
        #expect(storage.credentials(for: space) == ["u": credential("u", "p")])
        storage.remove(credential("u", "p"), for: space, options: nil)
        #expect(storage.credentials(for: space) == nil)
    }

    @Test("Credentials and spaces of the program's own classes may ask the storage when they are asked or released")
    func ownClasses() {
        let (asked, other) = (Signal(), space)
        let ask: @Sendable () -> Void = { [storage] in
            storage.defaultCredential(for: other)
            asked.fire()
        }
        for _ in 0..<2 {
            let own = OwnSpace(call: ask)
            for password in ["p", "p", "q"] { storage.set(OwnCredential("u", password, call: ask), for: own) }
            storage.setDefaultCredential(OwnCredential("u", "r", call: ask), for: own)
            #expect(storage.defaultCredential(for: own)?.password == "r")
            #expect(storage.credentials(for: own)?.count == 1 && storage.allCredentials.count == 1)
            storage.remove(OwnCredential("u", "r", call: ask), for: own)
            #expect(storage.credentials(for: own) == nil)
            storage.set(OwnCredential("u", "p", call: ask), for: own)
        }
        let before = asked.count
        storage.removeAll()
        #expect(storage.allCredentials.isEmpty && asked.count > before)
    }

    @Test("B2.63: a change is notified on the main thread; a call that changes nothing is not notified")
    func notifications() async throws {
        let told = Signal()
        let offMain = Signal()
        // The main queue stands for the main thread, which a program with an asynchronous entry does not keep on Linux.
        let mark = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: mark, value: true)
        let observer = NotificationCenter.default.addObserver(
            forName: .NSURLCredentialStorageChanged, object: storage, queue: nil
        ) { _ in
            if DispatchQueue.getSpecific(key: mark) == nil { offMain.fire() }
            told.fire()
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        let steps: [(isTold: Bool, step: () -> Void)] = [
            (true, { storage.set(credential("u"), for: space) }),
            (false, { storage.set(credential("u"), for: space) }),
            (false, { storage.setDefaultCredential(credential("u"), for: space) }),
            (true, { storage.set(credential("u", "new"), for: space) }),
            (true, { storage.set(credential("u"), for: Self.space("b.test")) }),
            (true, { storage.set(credential("v"), for: space) }),
            (true, { storage.setDefaultCredential(credential("v"), for: space) }),
            (false, { storage.set(credential("x", "p", .none), for: space) }),
            (false, { storage.remove(credential("unknown"), for: space) }),
            (true, { storage.remove(credential("v"), for: space) }),
            (true, { storage.removeAll() }),
            (false, { storage.removeAll() }),
        ]
        for (isTold, step) in steps {
            let before = told.count
            step()
            if isTold { await told.wait(times: before + 1) }
            // A notification that a step wrongly posts is delivered before the next work on the main thread.
            await MainActor.run {}
            #expect(told.count == before + (isTold ? 1 : 0))
        }
        #expect(offMain.count == 0)
    }

    @Test("B2.28, B2.64: a space is found by its host in any case, and by all its other fields exactly")
    func lookup() {
        storage.set(credential(), for: space)
        #expect(storage.credentials(for: Self.space("A.TEST")) != nil)
        for other in [
            Self.space("b.test"), Self.space("a.test", 81), Self.space("a.test", 80, "https"),
            Self.space("a.test", 80, "http", nil), Self.space("a.test", 80, "http", "R"),
            Self.space("a.test", 80, "http", "r", NSURLAuthenticationMethodHTTPDigest),
        ] {
            #expect(storage.credentials(for: other) == nil && storage.defaultCredential(for: other) == nil)
        }
    }

    @Test("B2.65, B2.25: the default method counts as Basic")
    func defaultMethod() {
        storage.set(credential(), for: Self.space("a.test", 80, "http", "r", nil))
        #expect(storage.defaultCredential(for: space) == credential())
    }

    @Test("B2.66: a proxy's credentials are found under its own space and type only")
    func proxies() {
        func proxy(_ type: String) -> URLProtectionSpace {
            URLProtectionSpace(proxyHost: "a.test", port: 80, type: type, realm: "r", authenticationMethod: nil)
        }
        storage.set(credential("server"), for: space)
        for type in ["http", "https", "SOCKS"] { storage.set(credential(type), for: proxy(type)) }
        for type in ["http", "https", "SOCKS"] {
            #expect(storage.defaultCredential(for: proxy(type))?.user == type)
        }
        #expect(storage.defaultCredential(for: proxy("ftp")) == nil)
    }

    @Test("B2.68: the methods for a task act on the same credentials, and call back before they return")
    @available(*, deprecated)
    func tasks() async {
        let task = URLSessionTask()
        storage.set(credential("u"), for: space, task: task)
        storage.setDefaultCredential(credential("v"), for: space, task: task)
        let heard = Guarded<(all: [String: URLCredential]?, first: URLCredential?)>((nil, nil))
        storage.getCredentials(for: space, task: task) { all in heard.change { $0.all = all } }
        storage.getDefaultCredential(for: space, task: task) { first in heard.change { $0.first = first } }
        #expect(heard.value.all?.count == 2 && heard.value.first?.user == "v")
        #expect(await storage.credentials(for: space, task: task)?.count == 2)
        #expect(await storage.defaultCredential(for: space, task: task)?.user == "v")
        storage.remove(credential("v"), for: space, task: task)
        #expect(await storage.defaultCredential(for: space, task: task) == nil)
    }

    @Test("B2.70: a configuration's storage is the shared one, of its own when ephemeral, or none")
    func configurations() {
        #expect(URLSessionConfiguration.default.urlCredentialStorage === URLCredentialStorage.shared)
        let ephemeral = URLSessionConfiguration.ephemeral
        #expect(ephemeral.urlCredentialStorage != nil)
        #expect(ephemeral.urlCredentialStorage !== URLCredentialStorage.shared)
        #expect(ephemeral.urlCredentialStorage !== URLSessionConfiguration.ephemeral.urlCredentialStorage)
        let copy = ephemeral.copy() as? URLSessionConfiguration
        #expect(copy?.urlCredentialStorage === ephemeral.urlCredentialStorage)
        ephemeral.urlCredentialStorage = nil
        #expect(ephemeral.urlCredentialStorage == nil && copy?.urlCredentialStorage != nil)
    }

    @Test("B1.26: a session's reset empties its storage")
    func reset() async {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCredentialStorage = storage
        storage.set(credential(), for: space)
        let session = URLSession(configuration: configuration)
        await session.reset()
        #expect(storage.allCredentials.isEmpty)
        session.invalidateAndCancel()
    }

    @Test("B2.36: a stored identity is found that a named authority has issued, the default one first")
    func identities() throws {
        let (one, other) = (try CertificateFactory.root("One"), try CertificateFactory.root("Other"))
        let space = URLProtectionSpace(
            host: "A.test", port: 443, protocol: "https", realm: nil,
            authenticationMethod: NSURLAuthenticationMethodClientCertificate)
        func credential(_ root: IssuedCertificate, _ name: String) throws -> URLCredential {
            URLCredential(
                identity: SecIdentity(try root.issue(.client(name)).identity), certificates: nil,
                persistence: .forSession)
        }
        let (first, second, third) = (
            try credential(one, "first"), try credential(other, "second"), try credential(one, "third")
        )
        for credential in [first, second] { storage.set(credential, for: space) }
        storage.setDefaultCredential(third, for: space)
        func found(
            _ issuers: [[UInt8]], _ host: String = "a.test", _ port: Int = 443, of seeker: CertificateSeeker = .server
        ) -> URLCredential? {
            storage.identityCredential(host: host, port: port, of: seeker, acceptableIssuers: issuers)
        }
        #expect(found([]) == third)
        #expect(found([one.certificate.subjectDER]) == third)
        #expect(found([other.certificate.subjectDER]) == second)
        #expect(found([try CertificateFactory.root("Third").certificate.subjectDER]) == nil)
        #expect(found([[0x30]]) == nil)
        #expect(found([], "b.test") == nil && found([], "a.test", 8443) == nil)
        #expect(found([], of: .proxy) == nil, "B2.66: a proxy of that name has a space of its own")
        #expect(found([], of: .socket) == nil, "B2.108: a socket has none")
        #expect(storage.credentials(for: space)?.count == 3)
        let proxySpace = URLProtectionSpace(
            proxyHost: "a.test", port: 443, type: NSURLProtectionSpaceHTTPSProxy, realm: nil,
            authenticationMethod: NSURLAuthenticationMethodClientCertificate)
        storage.set(second, for: proxySpace)
        #expect(found([], of: .proxy) == second && found([]) == third && found([], of: .socket) == nil)
    }
}
