// Errors between their faces and the form in which they are kept and sent. What cannot be written down, such as a
// server's trust, stays behind; domain, code, texts, URL and reasons come through.
//
// Must not know: journals, processes.

import Foundation
import URLLoadingPolicy

extension TransferFailure {
    /// A failure of `URLError`'s domain.
    init(_ code: URLError.Code, _ text: String, url: String?) {
        self.init(code: Int64(code.rawValue), text: text, url: url)
    }

    /// What a session's directory could not do for a transfer.
    init(directory failure: BackgroundDirectoryFailure, url: String?) {
        self.init(failure.code, failure.description, url: url)
    }

    /// An error as it can be kept; with what a program can go on by where `keepsResumeData` says so.
    init(_ error: any Error, keepsResumeData: Bool = false) {
        let bridged = error as NSError
        self.init(
            domain: bridged.domain, code: Int64(bridged.code), text: Self.text(of: bridged),
            url: (bridged.userInfo[NSURLErrorFailingURLErrorKey] as? URL)?.absoluteString)
        cancellationReason = (bridged.userInfo[NSURLErrorBackgroundTaskCancelledReasonKey] as? Int).map(Int64.init)
        networkReason = (bridged.userInfo[NSURLErrorNetworkUnavailableReasonKey] as? Int).map(Int64.init)
        if keepsResumeData {
            let data =
                bridged.userInfo[NSURLSessionDownloadTaskResumeData]
                ?? bridged.userInfo[NSURLSessionUploadTaskResumeData]
            resumeData = (data as? Data).map { Array($0) }
        }
        var next = bridged.userInfo[NSUnderlyingErrorKey] as? any Error
        while let cause = next.map({ $0 as NSError }), causes.count < Self.mostCauses {
            causes.append(Cause(domain: cause.domain, code: Int64(cause.code), text: Self.text(of: cause)))
            next = cause.userInfo[NSUnderlyingErrorKey] as? any Error
        }
    }

    /// The error as the program sees it, of a task of this kind.
    func error(of kind: TransferKind) -> any Error {
        var userInfo: [String: Any] = [NSLocalizedDescriptionKey: text]
        if let url = url.flatMap({ URL(string: $0) }) {
            userInfo[NSURLErrorFailingURLErrorKey] = url
            userInfo[LoadFailure.failingURLStringKey] = url.absoluteString
        }
        if let cancellationReason {
            userInfo[NSURLErrorBackgroundTaskCancelledReasonKey] = Int(cancellationReason)
        }
        if let networkReason { userInfo[NSURLErrorNetworkUnavailableReasonKey] = Int(networkReason) }
        if let resumeData {
            let key = kind == .upload ? NSURLSessionUploadTaskResumeData : NSURLSessionDownloadTaskResumeData
            userInfo[key] = Data(resumeData)
        }
        var underlying: NSError?
        for cause in causes.reversed() {
            var inner: [String: Any] = [NSLocalizedDescriptionKey: cause.text]
            if let underlying { inner[NSUnderlyingErrorKey] = underlying }
            underlying = NSError(domain: cause.domain, code: Int(clamping: cause.code), userInfo: inner)
        }
        if let underlying { userInfo[NSUnderlyingErrorKey] = underlying }
        guard domain == NSURLErrorDomain else {
            return NSError(domain: domain, code: Int(clamping: code), userInfo: userInfo)
        }
        guard let known = URLError.Code(rawValue: Int(clamping: code)) else {
            return URLError(.unknown, userInfo: userInfo)
        }
        return URLError(known, userInfo: userInfo)
    }

    private static func text(of error: NSError) -> String {
        error.userInfo[NSLocalizedDescriptionKey] as? String ?? error.localizedDescription
    }

    /// Picked by feel: the loader's errors have two underneath.
    private static let mostCauses = 4
}

extension TransferRefusal {
    /// The error that a session's tasks end with (B10.24, B10.32).
    func failure(url: String?) -> TransferFailure {
        let (code, text): (URLError.Code, String) =
            switch self {
            case .inUse: (.backgroundSessionInUseByAnotherProcess, "Another process has the background session.")
            case .ending: (.backgroundSessionInUseByAnotherProcess, "The background session is being invalidated.")
            case .version(let version):
                (
                    .backgroundSessionWasDisconnected,
                    "The process that carries out the session's transfers is of another version (\(version))."
                )
            case .otherSession:
                (
                    .backgroundSessionWasDisconnected,
                    "The process that was reached carries out another session's transfers."
                )
            case .unintelligible(let reason):
                (.backgroundSessionWasDisconnected, "The process that carries out the session's transfers: \(reason)")
            }
        return TransferFailure(code, text, url: url)
    }
}
