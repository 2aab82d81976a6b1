// A load that waits for a network instead of failing without one.

import Foundation
import URLLoading

/// Loads a URL as soon as there is a network, and tells when it has to wait.
public final class PatientLoader: NSObject, URLSessionTaskDelegate, @unchecked Sendable {
    // Set before the first load and not changed afterwards.
    private let onWaiting: @Sendable () -> Void
    private lazy var session: URLSession = {
        let configuration = URLSessionConfiguration.default
        configuration.waitsForConnectivity = true
        configuration.timeoutIntervalForResource = 300
        return URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
    }()

    /// Calls back whenever a load has to wait.
    public init(onWaiting: @escaping @Sendable () -> Void) {
        self.onWaiting = onWaiting
    }

    /// Loads a URL, now or later.
    public func load(_ url: URL, then finish: @escaping @Sendable (Data?, Error?) -> Void) {
        session.dataTask(with: url) { data, _, error in finish(data, error) }.resume()
    }

    /// Gives up.
    public func stop() {
        session.invalidateAndCancel()
    }

    /// Tells that there is no network yet.
    public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        onWaiting()
    }
}
