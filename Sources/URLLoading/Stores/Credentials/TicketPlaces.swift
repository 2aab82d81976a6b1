// Which servers are shown the user's Kerberos ticket without a question (B2.11): those that are named beforehand. A
// ticket names the user, and lets its receiver talk to its service; a server that is merely reached, or led to, has no
// claim to it.
//
// Must not know: tasks, delegates, where a ticket comes from.

import URLLoadingPolicy
import URLLoadingTrust

/// The places that a configuration names.
struct TicketPlaces: Sendable {
    private let hosts: [HostPattern]
    private let includesProxies: Bool

    /// An entry that is no host names no server.
    init(_ values: ConfigurationValues) {
        hosts = values.negotiateHosts.compactMap { try? HostPattern(checking: $0.withHostsInASCII) }
        includesProxies = SessionProxies.areThePrograms(values)
    }

    /// Whether a server or proxy is one of them. A proxy of the program's own choice is.
    func include(_ side: AuthenticationSide) -> Bool {
        if includesProxies, case .proxy = side { return true }
        if hosts.isEmpty { return false }
        let host = HostName(side.host)
        return hosts.contains { $0.matches(host) }
    }
}
