// What a server has stapled, on its way to another process and back into the chain that is judged there.

import URLLoadingTrust

extension TransferStapling {
    /// What came with a chain.
    init(_ stapling: CertificateChain.Stapling) {
        self =
            switch stapling {
            case .unknown: .unknown
            case .absent: .absent
            case .response(let der): .response(der)
            }
    }

    /// What the chain is made with again.
    var ofChain: CertificateChain.Stapling {
        switch self {
        case .unknown: .unknown
        case .absent: .absent
        case .response(let der): .response(der)
        }
    }
}
