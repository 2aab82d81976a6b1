// A resolver of the program's own: where hosts are, for how long. Ours: Apple's loader asks the
// system's name service only.

import Foundation

extension URLSessionConfiguration {
    /// Ours: where a host is, as a `HostResolver` answers.
    public struct HostAddresses: Sendable, Hashable {
        /// IPv4 and IPv6 addresses as text, best first, without ports and brackets. Several are tried as those of a
        /// look-up are (B16.10). Those that come twice count once, and of more than 64 the first 64 count.
        public var addresses: [String]
        /// For how many seconds the session uses them without asking again. With zero, and what is no time, only the
        /// loads that wait for the answer use it; more than a day counts as a day.
        public var timeToLive: TimeInterval

        /// Addresses that are good for so many seconds.
        public init(_ addresses: [String], timeToLive: TimeInterval) {
            self.addresses = addresses
            self.timeToLive = timeToLive
        }
    }

    /// Ours: answers where a host is. The name is in lower case, and of international names it is the form in ASCII.
    public typealias HostResolver = @Sendable (_ host: String) async throws -> HostAddresses

    /// Ours: a closure that says where hosts are, in place of the system's name service; nil, the default, asks that.
    ///
    /// It is asked for the servers and the proxies that the session itself connects to, not about addresses, names
    /// under `localhost`, and what `hostOverrides` has. All loads that wait for one host wait for one question. Its
    /// task is cancelled when no load waits any more. A question counts as part of connecting, so that the request's
    /// time-out ends it. Answers are kept in the session, for the time that they say, and forgotten before where none
    /// of the addresses could be connected to.
    ///
    /// A resolver that throws makes the loads fail with `URLError.cannotFindHost`, or `.dnsLookupFailed` where it
    /// throws that, and its own error as the underlying one. No address, and a text that is none, are
    /// `.cannotFindHost`, too. Which server a session believes depends on the name, never on the address: certificates
    /// must be for the URL's host.
    ///
    /// Each session has one table for its answers. A background session that has it carries its
    /// transfers in the program itself.
    public var hostResolver: HostResolver? {
        get { value(\.hostResolver) }
        set { assign(\.hostResolver, newValue) }
    }
}
