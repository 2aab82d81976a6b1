// What a connection tells its delegate, in the words of Apple's older class. Every method is optional: the defaults do
// what happens on Apple's platforms without the method.

import Foundation
import URLLoading

/// Is told about a connection's failure, and asked for credentials.
public protocol NSURLConnectionDelegate: NSObjectProtocol {
    /// The connection has failed; its last message.
    @available(*, deprecated, message: "Use urlSession(_:task:didCompleteWithError:) of URLSessionTaskDelegate")
    func connection(_ connection: NSURLConnection, didFailWithError error: any Error)

    /// Whether the credential storage may be asked, and filled; asked once, before the first request is sent.
    @available(*, deprecated, message: "Use the urlCredentialStorage of URLSessionConfiguration")
    func connectionShouldUseCredentialStorage(_ connection: NSURLConnection) -> Bool

    /// A challenge has come. Answer through the challenge's sender, at any time from any thread; the connection waits.
    @available(
        *, deprecated, message: "Use urlSession(_:task:didReceive:completionHandler:) of URLSessionTaskDelegate"
    )
    func connection(_ connection: NSURLConnection, willSendRequestFor challenge: URLAuthenticationChallenge)

    /// Whether the delegate wants to be asked about a protection space; otherwise default handling answers. Asked where
    /// `connection(_:willSendRequestFor:)` is not implemented.
    @available(
        *, deprecated, message: "Use urlSession(_:task:didReceive:completionHandler:) of URLSessionTaskDelegate"
    )
    func connection(
        _ connection: NSURLConnection, canAuthenticateAgainstProtectionSpace protectionSpace: URLProtectionSpace
    ) -> Bool

    /// A challenge has come, in a space that the delegate wants to be asked about. Answer
    /// through the challenge's sender.
    @available(
        *, deprecated, message: "Use urlSession(_:task:didReceive:completionHandler:) of URLSessionTaskDelegate"
    )
    func connection(_ connection: NSURLConnection, didReceive challenge: URLAuthenticationChallenge)

    /// The connection has failed before the challenge was answered.
    @available(*, deprecated, message: "Use urlSession(_:task:didCompleteWithError:) of URLSessionTaskDelegate")
    func connection(_ connection: NSURLConnection, didCancel challenge: URLAuthenticationChallenge)
}

@available(*, deprecated)
extension NSURLConnectionDelegate {
    /// Does nothing.
    public func connection(_ connection: NSURLConnection, didFailWithError error: any Error) {}

    /// Uses it.
    public func connectionShouldUseCredentialStorage(_ connection: NSURLConnection) -> Bool { true }

    /// Asks the three older methods.
    public func connection(_ connection: NSURLConnection, willSendRequestFor challenge: URLAuthenticationChallenge) {
        let space = challenge.protectionSpace
        if self.connection(connection, canAuthenticateAgainstProtectionSpace: space) {
            self.connection(connection, didReceive: challenge)
        } else {
            challenge.sender?.performDefaultHandling(for: challenge)
        }
    }

    /// All but client certificates and server trust (B2.7).
    public func connection(
        _ connection: NSURLConnection, canAuthenticateAgainstProtectionSpace protectionSpace: URLProtectionSpace
    ) -> Bool {
        protectionSpace.isAskedAboutUnlessRefused
    }

    /// Leaves it to default handling.
    public func connection(_ connection: NSURLConnection, didReceive challenge: URLAuthenticationChallenge) {
        challenge.sender?.performDefaultHandling(for: challenge)
    }

    /// Does nothing.
    public func connection(_ connection: NSURLConnection, didCancel challenge: URLAuthenticationChallenge) {}
}

/// Is told what a connection loads.
public protocol NSURLConnectionDataDelegate: NSURLConnectionDelegate {
    /// A request is about to be sent: the first, with no response, or that of a redirect. Returns it, another in its
    /// place, or nil: then the redirect itself is the response, and a connection that has not begun fails as cancelled.
    @available(
        *, deprecated,
        message: "Use urlSession(_:task:willPerformHTTPRedirection:newRequest:completionHandler:)"
    )
    func connection(
        _ connection: NSURLConnection, willSend request: URLRequest, redirectResponse response: URLResponse?
    ) -> URLRequest?

    /// The response's head has come. May come again, for each part of a multipart body.
    @available(
        *, deprecated,
        message: "Use urlSession(_:dataTask:didReceive:completionHandler:) of URLSessionDataDelegate"
    )
    func connection(_ connection: NSURLConnection, didReceive response: URLResponse)

    /// A piece of the body has come.
    @available(*, deprecated, message: "Use urlSession(_:dataTask:didReceive:) of URLSessionDataDelegate")
    func connection(_ connection: NSURLConnection, didReceive data: Data)

    /// The request must be sent once more, and its body stream has been read: returns another that is not open yet.
    @available(*, deprecated, message: "Use urlSession(_:task:needNewBodyStream:) of URLSessionTaskDelegate")
    func connection(_ connection: NSURLConnection, needNewBodyStream request: URLRequest) -> InputStream?

    /// Part of the request's body has been sent.
    @available(
        *, deprecated,
        message: "Use urlSession(_:task:didSendBodyData:totalBytesSent:totalBytesExpectedToSend:)"
    )
    func connection(
        _ connection: NSURLConnection, didSendBodyData bytesWritten: Int, totalBytesWritten: Int,
        totalBytesExpectedToWrite: Int)

    /// The response may be stored in the cache: returns it as it is, another in its place, or nil to store nothing.
    @available(
        *, deprecated,
        message: "Use urlSession(_:dataTask:willCacheResponse:completionHandler:) of URLSessionDataDelegate"
    )
    func connection(
        _ connection: NSURLConnection, willCacheResponse cachedResponse: CachedURLResponse
    ) -> CachedURLResponse?

    /// The whole response has come; the last message.
    @available(*, deprecated, message: "Use urlSession(_:task:didCompleteWithError:) of URLSessionTaskDelegate")
    func connectionDidFinishLoading(_ connection: NSURLConnection)
}

@available(*, deprecated)
extension NSURLConnectionDataDelegate {
    /// Goes on with the request as it is.
    public func connection(
        _ connection: NSURLConnection, willSend request: URLRequest, redirectResponse response: URLResponse?
    ) -> URLRequest? {
        request
    }

    /// Does nothing.
    public func connection(_ connection: NSURLConnection, didReceive response: URLResponse) {}

    /// Does nothing.
    public func connection(_ connection: NSURLConnection, didReceive data: Data) {}

    /// Has none: the connection fails with `URLError.requestBodyStreamExhausted`.
    public func connection(_ connection: NSURLConnection, needNewBodyStream request: URLRequest) -> InputStream? { nil }

    /// Does nothing.
    public func connection(
        _ connection: NSURLConnection, didSendBodyData bytesWritten: Int, totalBytesWritten: Int,
        totalBytesExpectedToWrite: Int
    ) {}

    /// Stores the response as it is.
    public func connection(
        _ connection: NSURLConnection, willCacheResponse cachedResponse: CachedURLResponse
    ) -> CachedURLResponse? {
        cachedResponse
    }

    /// Does nothing.
    public func connectionDidFinishLoading(_ connection: NSURLConnection) {}
}

/// Is told about a connection whose body goes to a file.
///
/// A delegate that is also a `NSURLConnectionDataDelegate` gets the body as data instead.
public protocol NSURLConnectionDownloadDelegate: NSURLConnectionDelegate {
    /// More of the body has been written: new bytes, the sum so far, and the expected length or −1.
    @available(
        *, deprecated,
        message: "Use urlSession(_:downloadTask:didWriteData:totalBytesWritten:totalBytesExpectedToWrite:)"
    )
    func connection(
        _ connection: NSURLConnection, didWriteData bytesWritten: Int64, totalBytesWritten: Int64,
        expectedTotalBytes: Int64)

    /// A download goes on where another had stopped; never called, since connections begin at the beginning.
    @available(
        *, deprecated, message: "Use urlSession(_:downloadTask:didResumeAtOffset:expectedTotalBytes:)"
    )
    func connectionDidResumeDownloading(
        _ connection: NSURLConnection, totalBytesWritten: Int64, expectedTotalBytes: Int64)

    /// The whole body is in a file, which is removed when this returns: move or open it before. The last message.
    @available(*, deprecated, message: "Use urlSession(_:downloadTask:didFinishDownloadingTo:)")
    func connectionDidFinishDownloading(_ connection: NSURLConnection, destinationURL: URL)
}

@available(*, deprecated)
extension NSURLConnectionDownloadDelegate {
    /// Does nothing.
    public func connection(
        _ connection: NSURLConnection, didWriteData bytesWritten: Int64, totalBytesWritten: Int64,
        expectedTotalBytes: Int64
    ) {}

    /// Does nothing.
    public func connectionDidResumeDownloading(
        _ connection: NSURLConnection, totalBytesWritten: Int64, expectedTotalBytes: Int64
    ) {}
}
