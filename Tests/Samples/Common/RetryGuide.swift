// The code of docs/retrying.md, which SampleTests looks for here block by block.

import Foundation
import URLLoading

/// A configuration whose loads have three attempts after the first.
public func retryingConfiguration() -> URLSessionConfiguration {
    let configuration = URLSessionConfiguration.default
    configuration.retryPolicy = URLSession.RetryPolicy(maximumRetries: 3)
    return configuration
}

/// A request that has one attempt in any session.
public func singleAttempt(_ url: URL) -> URLRequest {
    var request = URLRequest(url: url)
    request.retryPolicy = .never
    return request
}

/// A policy that knows a service's habits.
public func knowingPolicy() -> URLSession.RetryPolicy {
    var policy = URLSession.RetryPolicy(maximumRetries: 5)
    policy.decide = { failure in
        // This service says 404 while it copies what was stored last.
        if failure.response?.statusCode == 404, failure.retries < 2 { return .retry(after: 0.1) }
        return failure.proposal
    }
    return policy
}
