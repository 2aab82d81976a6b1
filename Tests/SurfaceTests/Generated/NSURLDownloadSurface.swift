// The API of NSURLDownload, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading
import URLLoadingLegacy

/// Overrides everything that is open in `NSURLDownload` by what does the same.
class OverridingNSURLDownload: NSURLDownload {
    @available(*, deprecated)
    override class func canResumeDownloadDecoded(withEncodingMIMEType MIMEType: String) -> Bool {
        super.canResumeDownloadDecoded(withEncodingMIMEType: MIMEType)
    }

    @available(*, deprecated)
    override func cancel() { super.cancel() }

    @available(*, deprecated)
    override func setDestination(_ path: String, allowOverwrite: Bool) {
        super.setDestination(path, allowOverwrite: allowOverwrite)
    }

    @available(*, deprecated)
    override var request: URLRequest { super.request }

    @available(*, deprecated)
    override var resumeData: Data? { super.resumeData }

    @available(*, deprecated)
    override var deletesFileUponFailure: Bool {
        get { super.deletesFileUponFailure }
        set { super.deletesFileUponFailure = newValue }
    }
}

/// Names the API of `NSURLDownload`.
private func nsurlDownloadMembers() {
    let _: NSObject.Type = NSURLDownload.self
}

/// Names, as far as it is deprecated, the API of `NSURLDownload`.
@available(*, deprecated)
private func nsurlDownloadDeprecatedmembers(of one: NSURLDownload) {
    let _: (String) -> Bool = NSURLDownload.canResumeDownloadDecoded(withEncodingMIMEType:)
    let _: (URLRequest, (any NSURLDownloadDelegate)?) -> NSURLDownload = NSURLDownload.init(request:delegate:)
    let _: (Data, (any NSURLDownloadDelegate)?, String) -> NSURLDownload = NSURLDownload.init(resumeData:delegate:path:)
    let _: () -> Void = one.cancel
    let _: (String, Bool) -> Void = one.setDestination(_:allowOverwrite:)
    let _: KeyPath<NSURLDownload, URLRequest> = \.request
    let _: KeyPath<NSURLDownload, Data?> = \.resumeData
    let _: ReferenceWritableKeyPath<NSURLDownload, Bool> = \.deletesFileUponFailure
}
