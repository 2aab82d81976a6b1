// Whether anything can be made of a request at all, for code that wants to know before it makes a task of it.

import Foundation
import URLLoadingPolicy

extension URLRequest {
    /// Whether the request's URL is of a kind that can be loaded: by a class that is registered (B14.30), or by what is
    /// built in (B14.1).
    package var isLoadable: Bool {
        guard let url, let scheme = url.scheme else { return false }
        if ProtocolRegistry.shared.classes.contains(where: { $0.canInit(with: self) }) { return true }
        if Scheme(scheme) != nil { return (try? URLText(url).origin(of: url)) != nil }
        switch BuiltInScheme.named(scheme)?.source {
        case .ftp: return (try? FTPPlace(url)) != nil
        case .carrier: return true
        case nil: return false
        }
    }
}
