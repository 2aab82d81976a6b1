// The API of URLError, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import Testing
import URLLoading

@Suite("The API of URLError")
struct UrlerrorSurface {
    @Test("URLError.BackgroundTaskCancelledReason: raw values")
    func urlErrorBackgroundTaskCancelledReasonRawValues() {
        let cases: [(URLError.BackgroundTaskCancelledReason, Int)] = [
            (URLError.BackgroundTaskCancelledReason.userForceQuitApplication, 0),
            (URLError.BackgroundTaskCancelledReason.backgroundUpdatesDisabled, 1),
            (URLError.BackgroundTaskCancelledReason.insufficientSystemResources, 2),
        ]
        for (one, rawValue) in cases {
            #expect(one.rawValue == rawValue)
            #expect(URLError.BackgroundTaskCancelledReason(rawValue: rawValue) == one)
        }
    }

    @Test("URLError.NetworkUnavailableReason: raw values")
    func urlErrorNetworkUnavailableReasonRawValues() {
        let cases: [(URLError.NetworkUnavailableReason, Int)] = [
            (URLError.NetworkUnavailableReason.cellular, 0), (URLError.NetworkUnavailableReason.expensive, 1),
            (URLError.NetworkUnavailableReason.constrained, 2), (URLError.NetworkUnavailableReason.ultraConstrained, 3),
        ]
        for (one, rawValue) in cases {
            #expect(one.rawValue == rawValue)
            #expect(URLError.NetworkUnavailableReason(rawValue: rawValue) == one)
        }
    }
}

/// Names the API of `URLError.BackgroundTaskCancelledReason`.
private func urlErrorBackgroundTaskCancelledReasonMembers() {
    let _: any Sendable.Type = URLError.BackgroundTaskCancelledReason.self
}

/// Names the API of `URLError.NetworkUnavailableReason`.
private func urlErrorNetworkUnavailableReasonMembers() {
    let _: any Sendable.Type = URLError.NetworkUnavailableReason.self
}

/// Names the API of `URLError`.
private func urlErrorMembers() {
    let _: KeyPath<URLError, SecTrust?> = \.failureURLPeerTrust
    let _: KeyPath<URLError, Data?> = \.downloadTaskResumeData
    let _: KeyPath<URLError, Data?> = \.uploadTaskResumeData
    let _: KeyPath<URLError, URLError.BackgroundTaskCancelledReason?> = \.backgroundTaskCancelledReason
    let _: KeyPath<URLError, URLError.NetworkUnavailableReason?> = \.networkUnavailableReason
    let _: URLError.Code = URLError.dataLengthExceedsMaximum
    let _: URLError.Code = URLError.appTransportSecurityRequiresSecureConnection
}
