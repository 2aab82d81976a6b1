// The API of the globals, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import Testing
import URLLoading

@Suite("The API of the globals")
struct GlobalSurface {
    @Test("(global): constants")
    func globalConstants() {
        #expect(NSURLErrorNetworkUnavailableReasonKey == "NSURLErrorNetworkUnavailableReasonKey")
        #expect(NSURLErrorFileOutsideSafeArea == -1104)
        #expect(NSErrorFailingURLStringKey == "NSErrorFailingURLStringKey")
        #expect(NSURLSessionTransferSizeUnknown == -1)
        #expect(NSURLSessionDownloadTaskResumeData == "NSURLSessionDownloadTaskResumeData")
        #expect(NSURLSessionUploadTaskResumeData == "NSURLSessionUploadTaskResumeData")
    }
}

/// Names the API of `(global)`.
private func globalMembers() {
    let _: String = NSURLErrorNetworkUnavailableReasonKey
    let _: Int = NSURLErrorFileOutsideSafeArea
    let _: String = NSErrorFailingURLStringKey
    let _: Int64 = NSURLSessionTransferSizeUnknown
    let _: String = NSURLSessionDownloadTaskResumeData
    let _: String = NSURLSessionUploadTaskResumeData
    let _: InputStream.Type = CFReadStream.self
    let _: OutputStream.Type = CFWriteStream.self
    let _: (CFReadStream?, DispatchQueue?) -> Void = CFReadStreamSetDispatchQueue(_:_:)
    let _: (CFWriteStream?, DispatchQueue?) -> Void = CFWriteStreamSetDispatchQueue(_:_:)
}
