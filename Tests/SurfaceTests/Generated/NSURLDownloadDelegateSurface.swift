// The API of NSURLDownloadDelegate, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading
import URLLoadingLegacy

/// Names the API of `NSURLDownloadDelegate`.
private func nsurlDownloadDelegateMembers<One: NSURLDownloadDelegate>(of one: One) {
    let _: any NSObjectProtocol.Type = One.self
}

/// Names, as far as it is deprecated, the API of `NSURLDownloadDelegate`.
@available(*, deprecated)
private func nsurlDownloadDelegateDeprecatedmembers<One: NSURLDownloadDelegate>(of one: One) {
    let _: (NSURLDownload) -> Void = one.downloadDidBegin(_:)
    let _: (NSURLDownload, URLRequest, URLResponse?) -> URLRequest? = one.download(_:willSend:redirectResponse:)
    let _: (NSURLDownload, URLProtectionSpace) -> Bool = one.download(_:canAuthenticateAgainstProtectionSpace:)
    let _: (NSURLDownload, URLAuthenticationChallenge) -> Void = one.download(_:didReceive:)
    let _: (NSURLDownload, URLAuthenticationChallenge) -> Void = one.download(_:didCancel:)
    let _: (NSURLDownload) -> Bool = one.downloadShouldUseCredentialStorage(_:)
    let _: (NSURLDownload, URLResponse) -> Void = one.download(_:didReceive:)
    let _: (NSURLDownload, URLResponse, Int64) -> Void = one.download(_:willResumeWith:fromByte:)
    let _: (NSURLDownload, Int) -> Void = one.download(_:didReceiveDataOfLength:)
    let _: (NSURLDownload, String) -> Bool = one.download(_:shouldDecodeSourceDataOfMIMEType:)
    let _: (NSURLDownload, String) -> Void = one.download(_:decideDestinationWithSuggestedFilename:)
    let _: (NSURLDownload, String) -> Void = one.download(_:didCreateDestination:)
    let _: (NSURLDownload) -> Void = one.downloadDidFinish(_:)
    let _: (NSURLDownload, any Error) -> Void = one.download(_:didFailWithError:)
}
