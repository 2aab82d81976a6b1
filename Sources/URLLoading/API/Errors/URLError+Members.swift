// Members of `URLError` that Apple has and Foundation on Linux lacks.

import Foundation

/// The key under which an error tells why a network could not be used.
public let NSURLErrorNetworkUnavailableReasonKey = "NSURLErrorNetworkUnavailableReasonKey"

/// The code for a file outside of the area a program may read; not used on Linux (B17.37).
public let NSURLErrorFileOutsideSafeArea = -1104

/// The former name of `NSURLErrorFailingURLStringErrorKey`; errors also have the URL itself.
public let NSErrorFailingURLStringKey = "NSErrorFailingURLStringKey"

/// The key under which a failed download keeps what is needed to go on.
public let NSURLSessionDownloadTaskResumeData = "NSURLSessionDownloadTaskResumeData"

/// The key under which a failed upload keeps what is needed to go on.
public let NSURLSessionUploadTaskResumeData = "NSURLSessionUploadTaskResumeData"

/// A length in bytes that is not known.
public let NSURLSessionTransferSizeUnknown: Int64 = -1

extension URLError {
    /// The certificates of a server that was refused, to be looked at or evaluated again (B3.73).
    public var failureURLPeerTrust: SecTrust? {
        userInfo[NSURLErrorFailingURLPeerTrustErrorKey] as? SecTrust
    }

    /// What is needed to go on with a failed download.
    public var downloadTaskResumeData: Data? {
        userInfo[NSURLSessionDownloadTaskResumeData] as? Data
    }

    /// What is needed to go on with a failed upload.
    public var uploadTaskResumeData: Data? {
        userInfo[NSURLSessionUploadTaskResumeData] as? Data
    }

    /// Why a background task was cancelled.
    public var backgroundTaskCancelledReason: BackgroundTaskCancelledReason? {
        (userInfo[NSURLErrorBackgroundTaskCancelledReasonKey] as? Int).flatMap(BackgroundTaskCancelledReason.init)
    }

    /// Why a network could not be used.
    public var networkUnavailableReason: NetworkUnavailableReason? {
        (userInfo[NSURLErrorNetworkUnavailableReasonKey] as? Int).flatMap(NetworkUnavailableReason.init)
    }

    /// A resource, or the body of a GET request, is larger than allowed (B5.33).
    public static var dataLengthExceedsMaximum: URLError.Code { .dataLengthExceedsMaximum }

    /// A plain http load was refused by policy.
    public static var appTransportSecurityRequiresSecureConnection: URLError.Code {
        .appTransportSecurityRequiresSecureConnection
    }

    /// Why a background task was cancelled.
    public enum BackgroundTaskCancelledReason: Int, Sendable {
        /// The program was ended by its user.
        case userForceQuitApplication = 0
        /// Background work is switched off.
        case backgroundUpdatesDisabled = 1
        /// The system lacks resources.
        case insufficientSystemResources = 2
    }

    /// Why a network could not be used.
    public enum NetworkUnavailableReason: Int, Sendable {
        /// The network is cellular.
        case cellular = 0
        /// The network is expensive.
        case expensive = 1
        /// The network is constrained.
        case constrained = 2
        /// The network is ultra-constrained.
        case ultraConstrained = 3
    }
}
