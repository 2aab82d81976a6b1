// What --proto and --proto-redir allow: asked before each request, whatever kind of task makes it.

import Foundation
import URLLoading

extension Options {
    /// Why a URL of the command line may not be asked for; nil where it may.
    func refusal(of url: URL) -> FetchError? {
        guard let schemes, !schemes.contains(url.scheme) else { return nil }
        return FetchError(.unusableScheme, "--proto does not allow \(url.scheme ?? "")")
    }

    /// Why a redirect may not be followed; nil where it may.
    func refusal(ofRedirect redirect: URLRequest) -> FetchError? {
        guard let scheme = redirect.url?.scheme?.lowercased(),
            !(schemes?.contains(scheme) ?? true) || !(redirectSchemes?.contains(scheme) ?? true)
        else { return nil }
        return FetchError(.unusableScheme, "the server redirects to \(scheme), which is not allowed")
    }
}
