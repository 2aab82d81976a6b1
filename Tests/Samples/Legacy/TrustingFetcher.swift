// Trust by protection space, as it was written for servers in a company's own network.

import Foundation
import URLLoading
import URLLoadingLegacy

/// Fetches from hosts that are believed whatever their certificates say, and from no other that is not trusted anyway.
@available(*, deprecated, message: "Shows the older classes")
public class TrustingFetcher: NSObject, NSURLConnectionDataDelegate {
    private let trustedHosts: [String]
    private let completion: (Data?, Error?) -> Void
    private let received = NSMutableData()

    /// Keeps the hosts.
    public init(trustedHosts: [String], completion: @escaping (Data?, Error?) -> Void) {
        self.trustedHosts = trustedHosts
        self.completion = completion
    }

    /// Begins, also while the run loop tracks something else.
    public func fetch(_ url: URL) {
        let connection = NSURLConnection(request: URLRequest(url: url), delegate: self, startImmediately: false)
        connection?.schedule(in: RunLoop.current, forMode: .common)
        connection?.start()
    }

    /// Wants to be asked about servers only.
    public func connection(
        _ connection: NSURLConnection, canAuthenticateAgainstProtectionSpace protectionSpace: URLProtectionSpace
    ) -> Bool {
        return protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust
    }

    /// Vouches for the hosts in the list.
    public func connection(_ connection: NSURLConnection, didReceive challenge: URLAuthenticationChallenge) {
        if trustedHosts.contains(challenge.protectionSpace.host), let trust = challenge.protectionSpace.serverTrust {
            challenge.sender?.use(URLCredential(trust: trust), for: challenge)
        }
        // Counts only where nothing was said before.
        challenge.sender?.continueWithoutCredential(for: challenge)
    }

    /// Collects.
    public func connection(_ connection: NSURLConnection, didReceive data: Data) {
        received.append(data)
    }

    /// Hands the data on.
    public func connectionDidFinishLoading(_ connection: NSURLConnection) {
        completion(received as Data, nil)
    }

    /// Hands the error on.
    public func connection(_ connection: NSURLConnection, didFailWithError error: Error) {
        completion(nil, error)
    }
}
