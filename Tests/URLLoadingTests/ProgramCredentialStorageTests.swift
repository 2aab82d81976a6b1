// Credential storages of a program's own class: by which methods they are asked, where, and what a late answer does
// (behaviour 2.5, 2.6).

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingTLS
import URLLoadingTestSupport
import URLLoadingTrust

@testable import URLLoading

/// Notes by which methods it is asked and told, and whether that is on the session's loop. Tasks get
/// answers from another thread.
private final class OwnStorage: URLCredentialStorage, @unchecked Sendable {
    // Safe to share: all that changes is guarded.
    let session = Guarded<URLSession?>(nil)
    let calls = Guarded<[String]>([])

    private func note(_ call: String) {
        let isOnLoop = session.value?.core.engineAtHand?.isOnLoop ?? false
        calls.change { $0.append(isOnLoop ? "\(call), on the loop" : call) }
    }

    override func credentials(for space: URLProtectionSpace) -> [String: URLCredential]? {
        note("all")
        return super.credentials(for: space)
    }

    override func defaultCredential(for space: URLProtectionSpace) -> URLCredential? {
        note("default")
        return super.defaultCredential(for: space)
    }

    override func getCredentials(
        for protectionSpace: URLProtectionSpace, task: URLSessionTask,
        completionHandler: @escaping @Sendable ([String: URLCredential]?) -> Void
    ) {
        note("all for a task")
        let found = super.credentials(for: protectionSpace)
        DispatchQueue.global().async {
            completionHandler(found)
            // The first answer counts.
            completionHandler(nil)
        }
    }

    override func getDefaultCredential(
        for space: URLProtectionSpace, task: URLSessionTask,
        completionHandler: @escaping @Sendable (URLCredential?) -> Void
    ) {
        note("default for a task")
        let found = super.defaultCredential(for: space)
        DispatchQueue.global().async {
            completionHandler(found)
            completionHandler(nil)
        }
    }

    override func setDefaultCredential(
        _ credential: URLCredential, for protectionSpace: URLProtectionSpace, task: URLSessionTask
    ) {
        note("told for a task")
        super.setDefaultCredential(credential, for: protectionSpace)
    }
}

/// Keeps its credentials itself, by user.
private final class DrawerStorage: URLCredentialStorage, @unchecked Sendable {
    // Safe to share: the Guarded guards what is in it, and the space cannot change.
    let drawer = Guarded(["u": URLCredential("u", "p"), "v": URLCredential("v", "q")])
    private let space = URLProtectionSpace(
        host: "own.test", port: 80, protocol: "http", realm: "r", authenticationMethod: nil)

    override var allCredentials: [URLProtectionSpace: [String: URLCredential]] { [space: drawer.value] }

    override func remove(_ credential: URLCredential, for space: URLProtectionSpace) {
        drawer.change { $0[credential.user ?? ""] = nil }
    }
}

@Suite("Credential storages of the program's", .endsSessions, .timeLimit(.minutes(5)))
struct ProgramCredentialStorageTests {
    private let storage = OwnStorage()

    private func space(_ server: LoopbackServer) -> URLProtectionSpace {
        URLProtectionSpace(
            host: server.address.host, port: server.port, protocol: "http", realm: "r",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
    }

    /// A session with the storage, which is to notice its loop.
    private func watched(_ delegate: (any URLSessionDelegate)? = nil) -> URLSession {
        let session = visitor(delegate, storage: storage)
        storage.session.value = session
        return session
    }

    @Test("B2.68, B2.44: for a password it is asked by the methods for tasks, and may answer late")
    func passwords() async throws {
        try await withServer(router: door()) { server async throws in
            storage.set(URLCredential("u", "p"), for: space(server))
            #expect(try await watched().visit(server.at("/")) == "200 secret")
            #expect(storage.calls.value == ["default for a task"])
            #expect(try await watched().visit(server.at("/").naming("u")) == "200 secret")
            #expect(storage.calls.value == ["default for a task", "all for a task"])
            #expect(try await watched().visit(server.at("/").naming("u:p")) == "200 secret")
            #expect(storage.calls.value.count == 2, "the URL's comes first")
            storage.session.value = nil
        }
    }

    @Test("B2.68, B2.69, B2.36: what it has is proposed to the delegate, and used by default handling")
    func proposed() async throws {
        try await withServer(router: door()) { server async throws in
            storage.set(URLCredential("u", "p"), for: space(server))
            let delegate = GuestDelegate(Guest.always(.performDefaultHandling))
            #expect(try await watched(delegate).visit(server.at("/")) == "200 secret")
            #expect(delegate.transcript.calls == ["task HTTPBasic r 0 u/p 401"])
            #expect(storage.calls.value == ["default for a task", "default for a task"])
            storage.session.value = nil
        }
    }

    @Test("B2.68, B2.67: it is told for the task of a delegate's credential that was accepted")
    func told() async throws {
        try await withServer(router: door()) { server async throws in
            #expect(try await watched(GuestDelegate(Guest.once("u", "p"))).visit(server.at("/")) == "200 secret")
            #expect(storage.calls.value == ["default for a task", "told for a task"])
            storage.session.value = nil
        }
    }

    @Test(
        "B2.68: one that does not answer holds its task up until that is cancelled; then its answers count for nothing")
    func silent() async throws {
        let visits = Visits()
        try await withServer(router: door("r", ["u": "p"], visits)) { server async throws in
            let silent = HeldStorage()
            let url = try server.at("/")
            for delegate in [nil, GuestDelegate(Guest.always(.performDefaultHandling))] {
                let session = visitor(delegate, storage: silent)
                async let code = codeThrown { _ = try await session.data(from: url) }
                await silent.asked.wait(times: delegate == nil ? 1 : 2)
                for task in await session.allTasks { task.cancel() }
                #expect(await code == .cancelled)
                #expect(delegate?.challenges.value.isEmpty ?? true)
            }
            for handler in silent.handlers.value { handler(URLCredential("u", "p")) }
            #expect(visits.lines == ["GET /", "GET /"])
        }
    }

    @Test("B1.26: a session's reset removes what it keeps itself")
    func reset() async {
        let storage = DrawerStorage()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCredentialStorage = storage
        let session = URLSession(configuration: configuration)
        await session.reset()
        #expect(storage.drawer.value.isEmpty)
        session.invalidateAndCancel()
    }

    @Test("B2.36: for a certificate, which is a connection's, it is asked on no loop, with a delegate and without")
    func identity() async throws {
        let authority = try CertificateFactory.root("Clients")
        try await withJudgedServer { tls in
            tls.clientAuthentication = .required
            tls.clientAuthorities = [authority.certificate]
            tls.clientEvaluator = AnchorsEvaluator(anchors: [authority.certificate])
        } _: { judged in
            storage.set(
                URLCredential(
                    identity: SecIdentity(try authority.issue(.client("me")).identity), certificates: nil,
                    persistence: .forSession),
                for: URLProtectionSpace(
                    host: "localhost", port: judged.server.port, protocol: "https", realm: nil,
                    authenticationMethod: NSURLAuthenticationMethodClientCertificate))
            for delegate in [nil, SessionJudge(Habit.forIdentity(.performDefaultHandling))] {
                let configuration = judged.configuration(trusts: true)
                configuration.urlCredentialStorage = storage
                let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
                storage.session.value = session
                #expect(try await session.data(from: judged.url).0 == Data("secret".utf8))
                session.invalidateAndCancel()
            }
            #expect(storage.calls.value == ["all", "default", "all", "default"])
            storage.session.value = nil
        }
    }
}
