// Where credentials are kept, space by space: in memory, and where a program says so in a file, since there is no
// keychain on Linux.
//
// Must not know: sessions, challenges, how a credential is used, how a file is written (`CredentialFile`).

import Foundation
import Synchronization
import URLLoadingWire

/// The key of the removal option that Apple's platforms need for synchronised credentials, which are never kept here.
public let NSURLCredentialStorageRemoveSynchronizableCredentials =
    "NSURLCredentialStorageRemoveSynchronizableCredentials"

extension Notification.Name {
    /// The credentials of a storage, which is the notification's object, have changed; posted on the main queue
    /// (B2.63).
    public static let NSURLCredentialStorageChanged = Notification.Name("NSURLCredentialStorageChangedNotification")
}

/// Credentials by protection space.
///
/// Kept in memory, those with `.permanent` persistence too: they end with the process, as those of `.forSession` do,
/// unless the storage was made with `init(permanentCredentialsIn:)` (B2.55). Not kept are credentials with `.none`
/// (B2.53) and `.synchronizable` (B2.56), and the trust in a server, which belongs to its connection (B2.57).
///
/// Spaces are found by host in any case, port, protocol or proxy type, realm and method, where the default method and
/// Basic are one (B2.64, B2.65). An identity is listed under the SHA-256 of its certificate, since it has no user.
open class URLCredentialStorage: NSObject, @unchecked Sendable {
    // Safe to share: everything is behind this Mutex. Order: credentials and spaces may be of the
    // program's own classes, whose members and deinit may ask this storage. They are asked, compared and
    // let go of when the lock is free.
    private let entries: Mutex<[Place: Entry]>
    /// Where permanent credentials are kept beyond the process.
    let file: CredentialFile?
    private static let common = URLCredentialStorage()

    /// Makes an empty storage.
    public override init() {
        entries = Mutex([:])
        file = nil
        super.init()
    }

    /// Makes a storage with what is in a file, which follows what happens to the permanent ones.
    init(file: CredentialFile, records: [CredentialRecord]) {
        var found: [Place: Entry] = [:]
        for record in records {
            let place = Place(record.space)
            var entry = found[place] ?? Entry(space: record.space)
            entry.credentials[record.user] = record.credential
            entry.records[record.user] = record
            if record.isDefault { entry.defaultName = record.user }
            found[place] = entry
        }
        entries = Mutex(found)
        self.file = file
        super.init()
    }

    /// The storage that sessions use unless their configuration names another one.
    open class var shared: URLCredentialStorage { common }

    // MARK: Asking

    /// The credentials of a space by user; nil where there is none (B2.59).
    @discardableResult
    open func credentials(for space: URLProtectionSpace) -> [String: URLCredential]? {
        let place = Place(space)
        return entries.withLock { $0[place]?.credentials }
    }

    /// Everything that is kept.
    open var allCredentials: [URLProtectionSpace: [String: URLCredential]] {
        let entries = entries.withLock { Array($0.values) }
        var all: [URLProtectionSpace: [String: URLCredential]] = [:]
        for entry in entries { all[entry.space] = entry.credentials }
        return all
    }

    /// The credential that was set as default, else the first of the space, until it is removed (B2.60).
    @discardableResult
    open func defaultCredential(for space: URLProtectionSpace) -> URLCredential? {
        let place = Place(space)
        return entries.withLock { $0[place]?.defaultCredential }
    }

    // MARK: Changing

    /// Keeps a credential, in place of one of the same user (B2.58).
    open func set(_ credential: URLCredential, for space: URLProtectionSpace) {
        keep(credential, for: space, asDefault: false)
    }

    /// Keeps a credential and makes it the default (B2.61).
    open func setDefaultCredential(_ credential: URLCredential, for space: URLProtectionSpace) {
        keep(credential, for: space, asDefault: true)
    }

    /// Forgets a credential; one that is not kept like this is passed over (B2.62).
    open func remove(_ credential: URLCredential, for space: URLProtectionSpace) {
        remove(credential, for: space, options: [:])
    }

    /// Forgets a credential. The option is about synchronised ones, of which there are none here.
    open func remove(_ credential: URLCredential, for space: URLProtectionSpace, options: [String: Any]? = [:]) {
        guard let name = credential.storedName else { return }
        let place = Place(space)
        // Again where another thread has replaced it while it was compared.
        while let known = entries.withLock({ $0[place]?.credentials[name] }), known == credential {
            let before = entries.withLock { entries -> Entry? in
                guard let before = entries[place], before.credentials[name] === known else { return nil }
                var entry = before
                entry.credentials[name] = nil
                entry.records[name] = nil
                if entry.defaultName == name { entry.defaultName = nil }
                entries[place] = entry.credentials.isEmpty ? nil : entry
                return before
            }
            if before != nil { return noteChange() }
        }
    }

    // MARK: For a task

    /// Asks for a space's credentials on behalf of a task; the handler is called at once (B2.68).
    @preconcurrency
    open func getCredentials(
        for protectionSpace: URLProtectionSpace, task: URLSessionTask,
        completionHandler: @escaping @Sendable ([String: URLCredential]?) -> Void
    ) {
        completionHandler(credentials(for: protectionSpace))
    }

    /// A space's credentials, asked for on behalf of a task.
    ///
    /// Sessions call the form with a handler, and an override of this one is not asked: override that one.
    @discardableResult
    open func credentials(
        for protectionSpace: URLProtectionSpace, task: URLSessionTask
    ) async -> [String: URLCredential]? {
        await withCheckedContinuation { continuation in
            getCredentials(for: protectionSpace, task: task) { continuation.resume(returning: $0) }
        }
    }

    /// Keeps a credential on behalf of a task.
    open func set(_ credential: URLCredential, for protectionSpace: URLProtectionSpace, task: URLSessionTask) {
        set(credential, for: protectionSpace)
    }

    /// Forgets a credential on behalf of a task.
    open func remove(
        _ credential: URLCredential, for protectionSpace: URLProtectionSpace, options: [String: Any]? = [:],
        task: URLSessionTask
    ) {
        remove(credential, for: protectionSpace, options: options)
    }

    /// Asks for a space's default on behalf of a task; the handler is called at once (B2.68).
    @preconcurrency
    open func getDefaultCredential(
        for space: URLProtectionSpace, task: URLSessionTask,
        completionHandler: @escaping @Sendable (URLCredential?) -> Void
    ) {
        completionHandler(defaultCredential(for: space))
    }

    /// A space's default, asked for on behalf of a task.
    ///
    /// Sessions call the form with a handler, and an override of this one is not asked: override that one.
    @discardableResult
    open func defaultCredential(for space: URLProtectionSpace, task: URLSessionTask) async -> URLCredential? {
        await withCheckedContinuation { continuation in
            getDefaultCredential(for: space, task: task) { continuation.resume(returning: $0) }
        }
    }

    /// Keeps a credential as the default on behalf of a task.
    open func setDefaultCredential(
        _ credential: URLCredential, for protectionSpace: URLProtectionSpace, task: URLSessionTask
    ) {
        setDefaultCredential(credential, for: protectionSpace)
    }

    /// Forgets everything, where that is a subclass's to keep, too.
    func removeAll() {
        if !isPlain {
            for (space, known) in allCredentials {
                for credential in known.values { remove(credential, for: space) }
            }
        }
        let before = entries.withLock { entries in
            defer { entries = [:] }
            return entries
        }
        if !before.isEmpty { noteChange() }
    }

    // MARK: Inside

    private func keep(_ credential: URLCredential, for space: URLProtectionSpace, asDefault: Bool) {
        let persistence = credential.persistence
        guard persistence == .forSession || persistence == .permanent, let name = credential.storedName else { return }
        let place = Place(space)
        // Again where another thread has changed the entry while it was looked at.
        while true {
            let before = entries.withLock { $0[place] }
            let known = before?.credentials[name]
            let isKept = known == credential
            let record = file == nil ? nil : CredentialRecord(credential, in: before?.space ?? space)
            let isChanged = entries.withLock { entries -> Bool? in
                guard entries[place]?.space === before?.space, entries[place]?.credentials[name] === known
                else { return nil }
                var entry = entries[place] ?? Entry(space: space)
                if entry.credentials.isEmpty { entry.defaultName = name }
                let isNewDefault = asDefault && entry.defaultName != name
                if isKept, !isNewDefault { return false }
                entry.credentials[name] = credential
                entry.records[name] = record
                if asDefault { entry.defaultName = name }
                entries[place] = entry
                return true
            }
            guard let isChanged else { continue }
            if isChanged { noteChange() }
            return
        }
    }

    /// Called without the lock.
    private func noteChange() {
        file?.keep { permanentRecords }
        announceChange()
    }

    /// The passwords that are kept beyond the process, in an order that does not change by itself.
    private var permanentRecords: [CredentialRecord] {
        let records = entries.withLock { entries -> [CredentialRecord] in
            entries.values.flatMap { entry in
                entry.records.map { name, record -> CredentialRecord in
                    var record = record
                    record.isDefault = entry.defaultName == name
                    return record
                }
            }
        }
        return records.sorted { $0.sortKey.lexicographicallyPrecedes($1.sortKey) }
    }

    /// Called without the lock: observers may ask the storage. The main queue stands for the main thread, which a
    /// program with an asynchronous entry point does not keep on Linux.
    private func announceChange() {
        let post: @Sendable () -> Void = { [self] in
            NotificationCenter.default.post(name: .NSURLCredentialStorageChanged, object: self)
        }
        if Thread.isMainThread { post() } else { DispatchQueue.main.async(execute: post) }
    }

    /// The credentials of one space.
    private struct Entry {
        /// The space as it was given first.
        let space: URLProtectionSpace
        var credentials: [String: URLCredential] = [:]
        /// What a file keeps of those that are permanent: read from them when they were given.
        var records: [String: CredentialRecord] = [:]
        var defaultName: String?

        init(space: URLProtectionSpace) { self.space = space }

        var defaultCredential: URLCredential? { defaultName.flatMap { credentials[$0] } }
    }

    /// What spaces are found by (B2.28, B2.65).
    private struct Place: Hashable {
        let host: String
        let port: Int
        let isProxy: Bool
        let kind: String?
        let realm: String?
        let method: String

        // A realm is compared byte for byte, as servers do.
        static func == (left: Place, right: Place) -> Bool {
            left.host == right.host && left.port == right.port && left.isProxy == right.isProxy
                && left.kind == right.kind && left.method == right.method && left.realm.hasSameBytes(as: right.realm)
        }

        init(_ space: URLProtectionSpace) {
            host = space.host.lowercased()
            port = space.port
            isProxy = space.isProxy()
            kind = isProxy ? space.proxyType : space.protocol
            realm = space.realm
            method =
                space.authenticationMethod == NSURLAuthenticationMethodHTTPBasic
                ? NSURLAuthenticationMethodDefault : space.authenticationMethod
        }
    }
}

extension URLCredential {
    /// What it is kept under; nil for what is not kept.
    fileprivate var storedName: String? {
        user ?? identity?.identity.chain.leaf.fingerprintHex
    }
}
