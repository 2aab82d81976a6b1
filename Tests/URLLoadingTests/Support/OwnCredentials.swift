// Credentials and spaces of a program's own classes, for tests of the moments in which the library asks
// them and lets go of them.

import Foundation
import URLLoading

/// A credential that calls a closure whenever it is asked something, and at its end.
final class OwnCredential: URLCredential, @unchecked Sendable {
    // Safe to share: it cannot change.
    private let call: @Sendable () -> Void

    init(
        _ user: String, _ password: String, _ persistence: URLCredential.Persistence = .forSession,
        call: @escaping @Sendable () -> Void
    ) {
        self.call = call
        super.init(user: user, password: password, persistence: persistence)
    }

    required init?(coder: NSCoder) { return nil }

    deinit { call() }

    override var user: String? {
        call()
        return super.user
    }

    override var password: String? {
        call()
        return super.password
    }

    override var persistence: URLCredential.Persistence {
        call()
        return super.persistence
    }

    override func isEqual(_ object: Any?) -> Bool {
        call()
        return super.isEqual(object)
    }
}

/// A space that calls a closure whenever it is asked something, and at its end.
final class OwnSpace: URLProtectionSpace, @unchecked Sendable {
    // Safe to share: it cannot change.
    private let call: @Sendable () -> Void

    init(call: @escaping @Sendable () -> Void) {
        self.call = call
        super.init(host: "own.test", port: 80, protocol: "http", realm: "r", authenticationMethod: nil)
    }

    required init?(coder: NSCoder) { return nil }

    deinit { call() }

    override var host: String {
        call()
        return super.host
    }

    override var hash: Int {
        call()
        return super.hash
    }
}
