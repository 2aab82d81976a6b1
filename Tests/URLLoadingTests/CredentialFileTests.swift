// Permanent credentials in a file (behaviour 2.6).

import Foundation
import Testing
import URLLoadingSystem

@testable import URLLoading

@Suite("Credential file")
struct CredentialFileTests {
    private let directory: URL
    private let file: URL

    init() throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("credentials-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        file = directory.appendingPathComponent("store.json")
    }

    private func space(_ realm: String? = "r", proxy: Bool = false) -> URLProtectionSpace {
        proxy
            ? URLProtectionSpace(
                proxyHost: "p.test", port: 3128, type: NSURLProtectionSpaceHTTPProxy, realm: realm,
                authenticationMethod: NSURLAuthenticationMethodHTTPDigest)
            : URLProtectionSpace(
                host: "a.test", port: 443, protocol: "https", realm: realm,
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
    }

    private func credential(
        _ user: String, _ persistence: URLCredential.Persistence = .permanent, password: String = "pass"
    ) -> URLCredential {
        URLCredential(user: user, password: password, persistence: persistence)
    }

    private func removeAll() { try? FileManager.default.removeItem(at: directory) }

    private var mode: Int? {
        (try? FileManager.default.attributesOfItem(atPath: file.path))?[.posixPermissions] as? Int
    }

    private func text() throws -> String { try String(contentsOf: file, encoding: .utf8) }

    @Test("B2.55: permanent credentials are there again in a later run, with their spaces and defaults")
    func laterRun() throws {
        defer { removeAll() }
        let first = try URLCredentialStorage(permanentCredentialsIn: file)
        first.set(credential("u"), for: space())
        first.setDefaultCredential(credential("v"), for: space())
        first.set(credential("w", password: "ä\"\n"), for: space(nil, proxy: true))
        #expect(first.fileError == nil)
        let second = try URLCredentialStorage(permanentCredentialsIn: file)
        #expect(second.allCredentials == first.allCredentials)
        #expect(second.defaultCredential(for: space()) == credential("v"))
        #expect(second.defaultCredential(for: space(nil, proxy: true))?.password == "ä\"\n")
        first.remove(credential("v"), for: space())
        let third = try URLCredentialStorage(permanentCredentialsIn: file)
        #expect(third.credentials(for: space()) == ["u": credential("u")])
        #expect(third.defaultCredential(for: space()) == nil, "no other credential takes over (B2.60)")
    }

    @Test("B2.54, B2.55: nothing else is written: no credential of a session, and no file where there is none to keep")
    func onlyPermanent() throws {
        defer { removeAll() }
        let storage = try URLCredentialStorage(permanentCredentialsIn: file)
        storage.set(credential("session", .forSession), for: space())
        storage.set(credential("never", .none), for: space())
        #expect(mode == nil)
        storage.set(credential("kept"), for: space())
        #expect(try text().contains("kept") && !text().contains("session"))
        storage.removeAll()
        #expect(mode == nil, "a session's reset removes the file (B1.26)")
        #expect(storage.fileError == nil)
    }

    @Test("Only its owner may read the file, and it is replaced as a whole")
    func owner() throws {
        defer { removeAll() }
        let storage = try URLCredentialStorage(permanentCredentialsIn: file)
        for user in ["u", "v"] {
            storage.set(credential(user), for: space())
            #expect(mode == 0o600)
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["store.json"])
        }
    }

    @Test("A file that others may read, or that holds something else, is refused, and its contents are not quoted")
    func refused() throws {
        defer { removeAll() }
        func refusal() -> String? {
            do {
                _ = try URLCredentialStorage(permanentCredentialsIn: file)
                return nil
            } catch {
                return (error as? URLCredentialStorage.FileError)?.description ?? "\(error)"
            }
        }
        try Data("{\"credentials\": \"topsecret\"}".utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        #expect(refusal()?.contains("does not hold credentials") == true)
        #expect(refusal()?.contains("topsecret") == false)
        try Data("{\"version\": 2, \"credentials\": []}".utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        #expect(refusal()?.contains("newer version") == true)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file.path)
        #expect(refusal()?.contains("0600") == true)
        try FileManager.default.removeItem(at: file)
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
        #expect(refusal()?.contains("is not a file") == true)
    }

    @Test("A credential that cannot be written stays in memory and the error is told; the next change tries again")
    func unwritable() throws {
        defer { removeAll() }
        let storage = try URLCredentialStorage(permanentCredentialsIn: file)
        try FileManager.default.removeItem(at: directory)
        storage.set(credential("u"), for: space())
        #expect(storage.fileError?.description.contains("cannot be written") == true)
        #expect(storage.credentials(for: space()) != nil)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        storage.set(credential("v"), for: space())
        #expect(storage.fileError == nil)
        #expect(try URLCredentialStorage(permanentCredentialsIn: file).credentials(for: space())?.count == 2)
    }

    @Test("What a killed process has left half written goes when the file is opened or written, unless it is in use")
    func leftOvers() throws {
        defer { removeAll() }
        let others = [".credentials-notes.tmp", "other.tmp"]
        for name in others { try Data("x".utf8).write(to: directory.appendingPathComponent(name)) }
        let leftOver = directory.appendingPathComponent(".credentials-0123456789aB.tmp")
        func leave() throws { try Data("secret".utf8).write(to: leftOver) }
        func isLeft() -> Bool { FileManager.default.fileExists(atPath: leftOver.path) }
        try leave()
        // As another process has it that is writing just now.
        var lock: FileLock? = try FileLock.take(directory: directory.path, patience: .zero).get()
        let storage = try URLCredentialStorage(permanentCredentialsIn: file)
        #expect(isLeft())
        lock?.hold()
        lock = nil
        _ = try URLCredentialStorage(permanentCredentialsIn: file)
        #expect(!isLeft())
        try leave()
        storage.set(credential("u"), for: space())
        #expect(!isLeft())
        try leave()
        storage.removeAll()
        #expect(!isLeft() && storage.fileError == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() == others)
    }

    @Test("B2.55: a credential of the program's own class may change the storage whenever it is asked something")
    func ownClass() throws {
        defer { removeAll() }
        let storage = try URLCredentialStorage(permanentCredentialsIn: file)
        let (place, count) = (space(), Guarded(0))
        let own = OwnCredential("own", "pass", .permanent) {
            // Each time another one, so that the file is written.
            let password = "\(count.add(1))"
            storage.set(URLCredential(user: "other", password: password, persistence: .permanent), for: place)
        }
        storage.set(own, for: place)
        let later = try URLCredentialStorage(permanentCredentialsIn: file).credentials(for: place)
        #expect(later == ["other": credential("other", password: "\(count.value)"), "own": credential("own")])
        storage.removeAll()
    }

    @Test("When threads change the storage together the file holds all changes")
    func together() async throws {
        defer { removeAll() }
        let storage = try URLCredentialStorage(permanentCredentialsIn: file)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<24 {
                group.addTask { storage.set(self.credential("user \(number)"), for: self.space()) }
            }
        }
        #expect(try URLCredentialStorage(permanentCredentialsIn: file).credentials(for: space())?.count == 24)
    }
}
