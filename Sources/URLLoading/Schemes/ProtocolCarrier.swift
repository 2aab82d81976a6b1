// Carries a hop by an instance of a class of the program's.

import Dispatch
import Foundation

/// An instance of `URLProtocol` at work.
///
/// Unchecked because `URLProtocol` is not Sendable: the instance is touched on the session's serial queue for instances
/// only, from its making on.
final class ProtocolCarrier: SchemeCarrier, @unchecked Sendable {
    private let instance: URLProtocol
    private let client: CarrierClient
    private let queue: DispatchQueue

    init(_ instance: URLProtocol, _ client: CarrierClient, on queue: DispatchQueue) {
        self.instance = instance
        self.client = client
        self.queue = queue
    }

    /// Called on the queue, where the instance was made.
    func start(_ request: URLRequest, _ load: SchemeLoad) {
        client.attach(load, on: queue)
        instance.startLoading()
    }

    func stop() {
        client.detach()
        queue.async { [self] in instance.stopLoading() }
    }
}
