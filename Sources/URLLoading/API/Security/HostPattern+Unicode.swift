// Hosts as people write them. Certificates and connections have the A-labels of a name in Unicode (B3.18), which
// Foundation makes.

import Foundation
import URLLoadingTrust

extension HostPattern {
    /// Reads a pattern as `init(checking:)` does; its host may be in Unicode.
    init(reading text: String) throws(CertificateError) {
        let host = text.hasPrefix("*.") ? text.dropFirst(2) : text[...]
        try self.init(checking: text.prefix(text.count - host.count) + HostName.inALabels(String(host)))
    }
}

extension HostName {
    /// A host in Unicode in its A-labels; other texts as they are.
    static func inALabels(_ host: String) -> String {
        if host.utf8.allSatisfy({ $0 < 0x80 }) { return host }
        // What is more than a host must not lose the rest here.
        guard
            host.unicodeScalars.allSatisfy({
                !$0.isASCII || $0.properties.isAlphabetic || "0123456789-._".unicodeScalars.contains($0)
            })
        else { return host }
        return URL(string: "https://" + host)?.host ?? host
    }
}
