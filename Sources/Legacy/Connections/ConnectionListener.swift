// Puts what a load tells into the words of a connection's delegate. Holds both, for as long as the load lasts.

import Foundation
import URLLoading

/// A connection's delegate, cast once to all the protocols it may conform to.
struct ConnectionDelegates: @unchecked Sendable {
    // Safe to share: the delegate is called in its place only, one message at a time.
    let base: any NSURLConnectionDelegate
    let data: (any NSURLConnectionDataDelegate)?
    let download: (any NSURLConnectionDownloadDelegate)?

    /// Nil where the delegate has no method that could be called.
    init?(_ delegate: Any?) {
        guard let base = delegate as? any NSURLConnectionDelegate else { return nil }
        self.base = base
        data = base as? any NSURLConnectionDataDelegate
        download = base as? any NSURLConnectionDownloadDelegate
    }

    /// Whether the body goes to a file.
    var wantsFile: Bool { data == nil && download != nil }
}

/// Tells a connection's delegate.
@available(*, deprecated)
final class ConnectionListener: LoadListener, @unchecked Sendable {
    // Safe to share: both are immutable, and the connection is only handed on.
    private let connection: NSURLConnection
    private let delegates: ConnectionDelegates

    init(_ connection: NSURLConnection, _ delegates: ConnectionDelegates) {
        self.connection = connection
        self.delegates = delegates
    }

    var principal: AnyObject? { delegates.base }

    func begins() {}

    func willSend(_ request: URLRequest, after response: URLResponse?) -> URLRequest? {
        guard let data = delegates.data else { return request }
        return data.connection(connection, willSend: request, redirectResponse: response)
    }

    func usesCredentialStorage() -> Bool {
        delegates.base.connectionShouldUseCredentialStorage(connection)
    }

    func isAsked(_ challenge: URLAuthenticationChallenge) {
        delegates.base.connection(connection, willSendRequestFor: challenge)
    }

    func isAskedNoMore(_ challenge: URLAuthenticationChallenge) {
        delegates.base.connection(connection, didCancel: challenge)
    }

    var preparesForBody: Bool { false }

    func receives(_ response: URLResponse) {
        delegates.data?.connection(connection, didReceive: response)
    }

    func receives(piece: Data) {
        delegates.data?.connection(connection, didReceive: piece)
    }

    func hasSent(_ count: Int64, total: Int64, expected: Int64) {
        delegates.data?.connection(
            connection, didSendBodyData: Int(clamping: count), totalBytesWritten: Int(clamping: total),
            totalBytesExpectedToWrite: Int(clamping: expected))
    }

    func bodyStream(for request: URLRequest) -> InputStream? {
        delegates.data?.connection(connection, needNewBodyStream: request)
    }

    func stores(_ response: CachedURLResponse) -> CachedURLResponse? {
        guard let data = delegates.data else { return response }
        return data.connection(connection, willCacheResponse: response)
    }

    func hasWritten(_ count: Int64, total: Int64, expected: Int64) {
        delegates.download?.connection(
            connection, didWriteData: count, totalBytesWritten: total, expectedTotalBytes: expected)
    }

    func ends(_ error: (any Error)?, file: URL?) {
        if let error {
            delegates.base.connection(connection, didFailWithError: error)
        } else if let file {
            delegates.download?.connectionDidFinishDownloading(connection, destinationURL: file)
        } else {
            delegates.data?.connectionDidFinishLoading(connection)
        }
    }

    func prepareResponse(then: @escaping @Sendable () -> Void) { then() }

    func prepare(_ piece: Data, then: @escaping @Sendable () -> Void) { then() }

    func prepareEnd(then: @escaping @Sendable ((any Error)?) -> Void) { then(nil) }
}
