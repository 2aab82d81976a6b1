// Apple's older class for saving what a URL names in a file. What it does is a `LegacyLoad`'s, and its file's side a
// `DownloadTransfer`'s.

import Foundation
import URLLoading

/// Saves a response's body in a file while it comes.
///
/// The delegate is called in the default mode of the run loop of the thread that made the download. The download holds
/// its delegate, and the load the download, until the last message or `cancel()`.
open class NSURLDownload: NSObject {
    private let load: LegacyLoad
    private let transfer: DownloadTransfer
    private let original: URLRequest

    /// Whether a file that was decoded while it was saved can be gone on with: never, since gzip, which is all that is
    /// decoded, keeps no place where that would be possible.
    @available(*, deprecated, message: "Use downloadTask(withResumeData:) of URLSession")
    @discardableResult
    open class func canResumeDownloadDecoded(withEncodingMIMEType MIMEType: String) -> Bool { false }

    /// Starts a download at once.
    @available(*, deprecated, message: "Use downloadTask(with:) of URLSession")
    public init(request: URLRequest, delegate: (any NSURLDownloadDelegate)?) {
        original = request
        transfer = DownloadTransfer()
        load = LegacyLoad(request)
        super.init()
        begin(delegate, isUsable: true)
    }

    /// Starts at once to go on with a download that has stopped, in the file at `path`; where the server's file has
    /// changed meanwhile, that is begun anew.
    @available(*, deprecated, message: "Use downloadTask(withResumeData:) of URLSession")
    public init(resumeData: Data, delegate: (any NSURLDownloadDelegate)?, path: String) {
        let point = ResumePoint(resumeData)
        original = URLRequest(url: point?.url ?? URL(fileURLWithPath: path))
        transfer = DownloadTransfer(point, path: path)
        load = LegacyLoad(original)
        super.init()
        begin(delegate, isUsable: point != nil)
    }

    @available(*, deprecated)
    private func begin(_ delegate: (any NSURLDownloadDelegate)?, isUsable: Bool) {
        load.deliveries.add(.current, .default)
        load.begin(DownloadListener(self, delegate, load, transfer, isUsable: isUsable))
    }

    /// Ends the download; the delegate hears nothing more. The file is removed, unless `deletesFileUponFailure` is off;
    /// one that the download was to go on with, and has not come to, stays.
    @available(*, deprecated, message: "Use cancel(byProducingResumeData:) of URLSessionDownloadTask")
    open func cancel() {
        if load.cancel() { transfer.giveUp() }
    }

    /// Says where the file goes; without effect once it has been made. Where one is that must not be overwritten, the
    /// download gets a name with a number.
    @available(*, deprecated, message: "Move the file in urlSession(_:downloadTask:didFinishDownloadingTo:)")
    open func setDestination(_ path: String, allowOverwrite: Bool) {
        transfer.setDestination(path, allowsOverwrite: allowOverwrite)
    }

    /// The request as it was given.
    @available(*, deprecated, message: "Use originalRequest of URLSessionTask")
    open var request: URLRequest { original }

    /// What is needed to go on, once the download has failed or was cancelled; nil where it removed its file,
    /// where nothing was saved, or where the server has given nothing by which a later answer could be known
    /// to be about the same file.
    @available(*, deprecated, message: "Use cancel(byProducingResumeData:) of URLSessionDownloadTask")
    open var resumeData: Data? { transfer.resumeData }

    /// Whether a download that fails or is cancelled removes its file, once it has begun to write it.
    @available(*, deprecated, message: "Use cancel(byProducingResumeData:) of URLSessionDownloadTask")
    open var deletesFileUponFailure: Bool {
        get { transfer.deletesUponFailure }
        set { transfer.deletesUponFailure = newValue }
    }
}
