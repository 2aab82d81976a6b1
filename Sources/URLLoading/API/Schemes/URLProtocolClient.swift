// What an instance of `URLProtocol` tells, and the client that it tells.

import Foundation
import Synchronization

/// Hears what a protocol loads. The one that a session gives to its instances may be called from any thread; what comes
/// after the end, or after `stopLoading`, is ignored.
public protocol URLProtocolClient: NSObjectProtocol, Sendable {
    /// The load leads to another request. The instance is stopped, and the request is loaded like any other, perhaps by
    /// another class (B14.49).
    func urlProtocol(
        _ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse)

    /// The instance's cached response is the answer (B14.51).
    func urlProtocol(_ protocol: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse)

    /// A response has come, and may be stored so (B14.43, B14.52).
    func urlProtocol(
        _ protocol: URLProtocol, didReceive response: URLResponse, cacheStoragePolicy policy: URLCache.StoragePolicy)

    /// More of the body has come; only what is new (B14.44).
    func urlProtocol(_ protocol: URLProtocol, didLoad data: Data)

    /// Everything has come (B14.45).
    func urlProtocolDidFinishLoading(_ protocol: URLProtocol)

    /// The load has failed (B14.46).
    func urlProtocol(_ protocol: URLProtocol, didFailWithError error: any Error)

    /// The load cannot go on without a credential; the answer comes to the challenge's sender (B14.50).
    func urlProtocol(_ protocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge)

    /// The challenge needs no answer any more.
    func urlProtocol(_ protocol: URLProtocol, didCancel challenge: URLAuthenticationChallenge)
}

/// The client of an instance that a session has made.
final class CarrierClient: NSObject, URLProtocolClient {
    private let load = Mutex<SchemeLoad?>(nil)
    private let queue = Mutex<DispatchQueue?>(nil)

    /// From now on what is told reaches `load`.
    func attach(_ load: SchemeLoad, on queue: DispatchQueue) {
        self.load.withLock { $0 = load }
        self.queue.withLock { $0 = queue }
    }

    /// From now on what is told is ignored.
    func detach() { load.withLock { $0 = nil } }

    private var current: SchemeLoad? { load.withLock { $0 } }

    func urlProtocol(
        _ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse
    ) {
        guard let load = current else { return }
        // A class makes it of its own request, mostly, in which it was shown the session's fields.
        let next = load.session?.builder.leavingSecrets(request, after: load.core.firstRequest)
        load.redirected(to: next ?? request, by: redirectResponse)
    }

    func urlProtocol(_ protocol: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse) {
        current?.received(stored: cachedResponse)
    }

    func urlProtocol(
        _ protocol: URLProtocol, didReceive response: URLResponse, cacheStoragePolicy policy: URLCache.StoragePolicy
    ) {
        current?.received(response, policy: policy)
    }

    func urlProtocol(_ protocol: URLProtocol, didLoad data: Data) { current?.received(body: data) }

    func urlProtocolDidFinishLoading(_ protocol: URLProtocol) { current?.finished() }

    func urlProtocol(_ protocol: URLProtocol, didFailWithError error: any Error) { current?.failed(error) }

    func urlProtocol(_ protocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge) {
        guard let queue = queue.withLock({ $0 }) else { return }
        current?.ask(challenge) { disposition, credential in
            // The sender is the program's, like the instance.
            queue.async { challenge.answer(disposition, credential) }
        }
    }

    func urlProtocol(_ protocol: URLProtocol, didCancel challenge: URLAuthenticationChallenge) {
        current?.withdraw(challenge)
    }
}

extension URLAuthenticationChallenge {
    /// Tells the sender what a delegate has said.
    fileprivate func answer(_ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?) {
        switch disposition {
        case .useCredential:
            if let credential {
                sender?.use(credential, for: self)
            } else {
                sender?.continueWithoutCredential(for: self)
            }
        case .performDefaultHandling: sender?.performDefaultHandling(for: self)
        case .cancelAuthenticationChallenge: sender?.cancel(self)
        case .rejectProtectionSpace: sender?.rejectProtectionSpaceAndContinue(with: self)
        }
    }
}
