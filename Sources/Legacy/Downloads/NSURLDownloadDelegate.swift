// What a download tells its delegate, in the words of Apple's older class. Every method is optional: the defaults do
// what happens on Apple's platforms without the method.

import Foundation
import URLLoading

/// Is told about a download, and asked where it goes.
public protocol NSURLDownloadDelegate: NSObjectProtocol {
    /// The download begins; the first message.
    @available(*, deprecated, message: "Use urlSession(_:didCreateTask:) of URLSessionTaskDelegate")
    func downloadDidBegin(_ download: NSURLDownload)

    /// A request is about to be sent: the first, with no response, or that of a redirect. Returns it, another in its
    /// place, or nil: then the redirect itself is saved, and a download that has not begun fails as cancelled.
    @available(
        *, deprecated,
        message: "Use urlSession(_:task:willPerformHTTPRedirection:newRequest:completionHandler:)"
    )
    func download(
        _ download: NSURLDownload, willSend request: URLRequest, redirectResponse: URLResponse?
    ) -> URLRequest?

    /// Whether the delegate wants to be asked about a protection space; otherwise default handling answers.
    @available(
        *, deprecated, message: "Use urlSession(_:task:didReceive:completionHandler:) of URLSessionTaskDelegate"
    )
    func download(
        _ connection: NSURLDownload, canAuthenticateAgainstProtectionSpace protectionSpace: URLProtectionSpace
    ) -> Bool

    /// A challenge has come. Answer through the challenge's sender, at any time from any thread; the download waits.
    @available(
        *, deprecated, message: "Use urlSession(_:task:didReceive:completionHandler:) of URLSessionTaskDelegate"
    )
    func download(_ download: NSURLDownload, didReceive challenge: URLAuthenticationChallenge)

    /// The download has failed before the challenge was answered.
    @available(*, deprecated, message: "Use urlSession(_:task:didCompleteWithError:) of URLSessionTaskDelegate")
    func download(_ download: NSURLDownload, didCancel challenge: URLAuthenticationChallenge)

    /// Whether the credential storage may be asked, and filled; asked once, before the first request is sent.
    @available(*, deprecated, message: "Use the urlCredentialStorage of URLSessionConfiguration")
    func downloadShouldUseCredentialStorage(_ download: NSURLDownload) -> Bool

    /// The response's head has come, and the file begins at its beginning.
    @available(*, deprecated, message: "Use the response of URLSessionTask")
    func download(_ download: NSURLDownload, didReceive response: URLResponse)

    /// The response's head has come, and the download goes on behind the bytes that the file has.
    @available(
        *, deprecated, message: "Use urlSession(_:downloadTask:didResumeAtOffset:expectedTotalBytes:)"
    )
    func download(_ download: NSURLDownload, willResumeWith response: URLResponse, fromByte startingByte: Int64)

    /// Bytes have come and are in the file, decoded where that was wanted.
    @available(
        *, deprecated,
        message: "Use urlSession(_:downloadTask:didWriteData:totalBytesWritten:totalBytesExpectedToWrite:)"
    )
    func download(_ download: NSURLDownload, didReceiveDataOfLength length: Int)

    /// Whether a file that is compressed with gzip is to be decoded while it is saved.
    @available(*, deprecated, message: "Decode the file of a download task")
    func download(_ download: NSURLDownload, shouldDecodeSourceDataOfMIMEType encodingType: String) -> Bool

    /// Where the download goes is to be said by `setDestination(_:allowOverwrite:)`, now; not asked where that was said
    /// before.
    @available(*, deprecated, message: "Move the file in urlSession(_:downloadTask:didFinishDownloadingTo:)")
    func download(_ download: NSURLDownload, decideDestinationWithSuggestedFilename filename: String)

    /// The file has been made, perhaps under another name than the one that was wanted.
    @available(*, deprecated, message: "Move the file in urlSession(_:downloadTask:didFinishDownloadingTo:)")
    func download(_ download: NSURLDownload, didCreateDestination path: String)

    /// The file is whole; the last message.
    @available(*, deprecated, message: "Use urlSession(_:downloadTask:didFinishDownloadingTo:)")
    func downloadDidFinish(_ download: NSURLDownload)

    /// The download has failed; the last message.
    @available(*, deprecated, message: "Use urlSession(_:task:didCompleteWithError:) of URLSessionTaskDelegate")
    func download(_ download: NSURLDownload, didFailWithError error: any Error)
}

@available(*, deprecated)
extension NSURLDownloadDelegate {
    /// Does nothing.
    public func downloadDidBegin(_ download: NSURLDownload) {}

    /// Goes on with the request as it is.
    public func download(
        _ download: NSURLDownload, willSend request: URLRequest, redirectResponse: URLResponse?
    ) -> URLRequest? {
        request
    }

    /// All but client certificates and server trust (B2.7).
    public func download(
        _ connection: NSURLDownload, canAuthenticateAgainstProtectionSpace protectionSpace: URLProtectionSpace
    ) -> Bool {
        protectionSpace.isAskedAboutUnlessRefused
    }

    /// Leaves it to default handling.
    public func download(_ download: NSURLDownload, didReceive challenge: URLAuthenticationChallenge) {
        challenge.sender?.performDefaultHandling(for: challenge)
    }

    /// Does nothing.
    public func download(_ download: NSURLDownload, didCancel challenge: URLAuthenticationChallenge) {}

    /// Uses it.
    public func downloadShouldUseCredentialStorage(_ download: NSURLDownload) -> Bool { true }

    /// Does nothing.
    public func download(_ download: NSURLDownload, didReceive response: URLResponse) {}

    /// Does nothing.
    public func download(_ download: NSURLDownload, willResumeWith response: URLResponse, fromByte startingByte: Int64)
    {}

    /// Does nothing.
    public func download(_ download: NSURLDownload, didReceiveDataOfLength length: Int) {}

    /// Saves the file as it comes.
    public func download(
        _ download: NSURLDownload, shouldDecodeSourceDataOfMIMEType encodingType: String
    ) -> Bool {
        false
    }

    /// Leaves it to the download: the user's folder for downloads or, where there is none, that for temporary files.
    public func download(_ download: NSURLDownload, decideDestinationWithSuggestedFilename filename: String) {}

    /// Does nothing.
    public func download(_ download: NSURLDownload, didCreateDestination path: String) {}

    /// Does nothing.
    public func downloadDidFinish(_ download: NSURLDownload) {}

    /// Does nothing.
    public func download(_ download: NSURLDownload, didFailWithError error: any Error) {}
}
