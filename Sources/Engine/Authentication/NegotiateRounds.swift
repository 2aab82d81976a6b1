// The rounds of Negotiate with one server or proxy: tokens in base64 in and out (RFC 4559 §4; behaviour B2.95). The
// library's calls block for as long as a ticket server likes, so they have threads of their own.

import CURLLoadingGSSAPI
import Synchronization
import URLLoadingSystem
import URLLoadingWire

/// A security context in the making.
package final class NegotiateRounds: Sendable {
    /// What the library keeps between rounds.
    private struct State: Sendable {
        var context: UInt = 0
        var isComplete = false
    }

    private let service: String
    /// Another library than the system's.
    private let given: Result<NegotiateLibrary, NegotiateFailure>?
    private let state = Mutex(State())

    /// Begins with a host: `HTTP@host` is the service for which a ticket is needed.
    package init(host: String, library: Result<NegotiateLibrary, NegotiateFailure>? = nil) {
        service = "HTTP@\(host)"
        given = library
    }

    deinit {
        let context = state.withLock { $0.context }
        guard context != 0, case .success(let library) = library else { return }
        urlloading_gss_delete_context(library.handle, context)
    }

    /// Asked for on the thread that may wait: to load a library takes reading files.
    private var library: Result<NegotiateLibrary, NegotiateFailure> { given ?? NegotiateLibrary.system }

    /// Calls `then` with the reason why no token can be made at all, or nil, on a helper thread: the system's library
    /// is looked for, and loaded, but not asked for anything.
    package static func lookForLibrary(then: @escaping @Sendable (NegotiateFailure?) -> Void) {
        let look = { @Sendable in
            switch NegotiateLibrary.system {
            case .success: then(nil)
            case .failure(let failure): then(failure)
            }
        }
        // Not behind loads that wait for tickets: what is asked here needs none.
        if !BlockingPool.authentication.run(look) { look() }
    }

    /// Makes the next token and calls `then` with it, on a helper thread; nil begins, a token goes on.
    ///
    /// One round at a time: the next one begins when the server has answered. Whose turn comes when it is not wanted
    /// any more makes none, and `then` is not called.
    package func token(
        for challenge: String?, while isWanted: @escaping @Sendable () -> Bool,
        then: @escaping @Sendable (Result<String, NegotiateFailure>) -> Void
    ) {
        let work = { @Sendable in
            if isWanted() { then(Result { () throws(NegotiateFailure) in try self.token(for: challenge) }) }
        }
        // Without a thread late is better than never.
        if !BlockingPool.tickets.run(work) { work() }
    }

    /// The next token, made on the calling thread, which it blocks.
    package func token(for challenge: String?) throws(NegotiateFailure) -> String {
        let library = try library.get()
        var input: [UInt8] = []
        if let challenge {
            guard let bytes = Base64.decode(challenge), !bytes.isEmpty else { throw .malformedChallenge }
            input = bytes
        }
        let outcome = state.withLock { Self.round(library, service: service, input: input, &$0) }
        return Base64.encode(try outcome.get())
    }

    private static func round(
        _ library: NegotiateLibrary, service: String, input: [UInt8], _ state: inout State
    ) -> Result<[UInt8], NegotiateFailure> {
        // RFC 4559 §5: a refusal after the last token means that the server does not accept the ticket.
        guard !state.isComplete, input.isEmpty == (state.context == 0) else {
            return .failure(.refused("the server goes on with rounds that are over or never began"))
        }
        var minor: UInt32 = 0
        var name: UInt = 0
        let imported = urlloading_gss_import_service(library.handle, &minor, service, &name)
        guard imported == 0 else { return .failure(library.failure(imported, minor)) }
        defer { urlloading_gss_release_name(library.handle, name) }

        var output = urlloading_gss_buffer()
        let major = urlloading_gss_init_context(
            library.handle, &minor, &state.context, name, input, input.count, &output)
        defer { urlloading_gss_release_buffer(library.handle, &output) }
        // The upper half of the status is for errors, the lowest bit says that the server has more to say.
        guard major & 0xFFFF_0000 == 0 else { return .failure(library.failure(major, minor)) }
        state.isComplete = major & 1 == 0
        let token = library.bytes(of: output)
        return token.isEmpty ? .failure(.refused("it has nothing left to say")) : .success(token)
    }
}
