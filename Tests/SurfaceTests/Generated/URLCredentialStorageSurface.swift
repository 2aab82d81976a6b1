// The API of URLCredentialStorage, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Overrides everything that is open in `URLCredentialStorage` by what does the same.
/// Safe to share: it has no state of its own.
class OverridingURLCredentialStorage: URLCredentialStorage, @unchecked Sendable {
    override class var shared: URLCredentialStorage { super.shared }

    override func credentials(for space: URLProtectionSpace) -> [String: URLCredential]? {
        super.credentials(for: space)
    }

    override var allCredentials: [URLProtectionSpace: [String: URLCredential]] { super.allCredentials }

    override func set(_ credential: URLCredential, for space: URLProtectionSpace) { super.set(credential, for: space) }

    override func remove(_ credential: URLCredential, for space: URLProtectionSpace) {
        super.remove(credential, for: space)
    }

    override func remove(_ credential: URLCredential, for space: URLProtectionSpace, options: [String: Any]? = [:]) {
        super.remove(credential, for: space, options: options)
    }

    override func defaultCredential(for space: URLProtectionSpace) -> URLCredential? {
        super.defaultCredential(for: space)
    }

    override func setDefaultCredential(_ credential: URLCredential, for space: URLProtectionSpace) {
        super.setDefaultCredential(credential, for: space)
    }

    override func getCredentials(
        for protectionSpace: URLProtectionSpace, task: URLSessionTask,
        completionHandler: @escaping @Sendable ([String: URLCredential]?) -> Void
    ) { super.getCredentials(for: protectionSpace, task: task, completionHandler: completionHandler) }

    override func credentials(for protectionSpace: URLProtectionSpace, task: URLSessionTask) async -> [String:
        URLCredential]?
    { await super.credentials(for: protectionSpace, task: task) }

    override func set(_ credential: URLCredential, for protectionSpace: URLProtectionSpace, task: URLSessionTask) {
        super.set(credential, for: protectionSpace, task: task)
    }

    override func remove(
        _ credential: URLCredential, for protectionSpace: URLProtectionSpace, options: [String: Any]? = [:],
        task: URLSessionTask
    ) { super.remove(credential, for: protectionSpace, options: options, task: task) }

    override func getDefaultCredential(
        for space: URLProtectionSpace, task: URLSessionTask,
        completionHandler: @escaping @Sendable (URLCredential?) -> Void
    ) { super.getDefaultCredential(for: space, task: task, completionHandler: completionHandler) }

    override func defaultCredential(for space: URLProtectionSpace, task: URLSessionTask) async -> URLCredential? {
        await super.defaultCredential(for: space, task: task)
    }

    override func setDefaultCredential(
        _ credential: URLCredential, for protectionSpace: URLProtectionSpace, task: URLSessionTask
    ) { super.setDefaultCredential(credential, for: protectionSpace, task: task) }
}

/// Names the API of `URLCredentialStorage`.
private func urlCredentialStorageMembers(of one: URLCredentialStorage) {
    let _: any (NSObject & Sendable).Type = URLCredentialStorage.self
    let _: () -> URLCredentialStorage = URLCredentialStorage.init
    let _: URLCredentialStorage = URLCredentialStorage.shared
    let _: (URLProtectionSpace) -> [String: URLCredential]? = one.credentials(for:)
    let _: KeyPath<URLCredentialStorage, [URLProtectionSpace: [String: URLCredential]]> = \.allCredentials
    let _: (URLCredential, URLProtectionSpace) -> Void = one.set(_:for:)
    let _: (URLCredential, URLProtectionSpace) -> Void = one.remove(_:for:)
    let _: (URLCredential, URLProtectionSpace, [String: Any]?) -> Void = one.remove(_:for:options:)
    let _: (URLProtectionSpace) -> URLCredential? = one.defaultCredential(for:)
    let _: (URLCredential, URLProtectionSpace) -> Void = one.setDefaultCredential(_:for:)
    let _: (URLProtectionSpace, URLSessionTask, @escaping @Sendable ([String: URLCredential]?) -> Void) -> Void = one
        .getCredentials(for:task:completionHandler:)
    let _: (URLProtectionSpace, URLSessionTask) async -> [String: URLCredential]? = one.credentials(for:task:)
    let _: (URLCredential, URLProtectionSpace, URLSessionTask) -> Void = one.set(_:for:task:)
    let _: (URLCredential, URLProtectionSpace, [String: Any]?, URLSessionTask) -> Void = one.remove(_:for:options:task:)
    let _: (URLProtectionSpace, URLSessionTask, @escaping @Sendable (URLCredential?) -> Void) -> Void = one
        .getDefaultCredential(for:task:completionHandler:)
    let _: (URLProtectionSpace, URLSessionTask) async -> URLCredential? = one.defaultCredential(for:task:)
    let _: (URLCredential, URLProtectionSpace, URLSessionTask) -> Void = one.setDefaultCredential(_:for:task:)
}
