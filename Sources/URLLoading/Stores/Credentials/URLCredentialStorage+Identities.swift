// Which of the stored identities a server is shown that asks for a certificate.

import Foundation
import URLLoadingTrust

extension URLCredentialStorage {
    /// The identity for a server that accepts certificates of these issuers, each an encoded name; of none means any.
    ///
    /// The default of the space comes first, then the others; one that no named authority has issued is not shown
    /// (B2.36). A proxy has a space of its own (B2.66). What is behind a socket has none, since spaces name no socket
    /// (B2.108).
    func identityCredential(
        host: String, port: Int, of seeker: CertificateSeeker, acceptableIssuers: [[UInt8]]
    ) -> URLCredential? {
        if seeker == .socket { return nil }
        let space = URLProtectionSpace(distinguishedNames: [], host: host, port: port, isProxy: seeker == .proxy)
        let others = (credentials(for: space) ?? [:]).sorted { $0.key < $1.key }.map(\.value)
        return ([defaultCredential(for: space)].compactMap(\.self) + others).first { credential in
            credential.shownIdentity?.chain.isAcceptable(to: acceptableIssuers) ?? false
        }
    }
}
