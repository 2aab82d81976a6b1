// The API of NSNotification, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import Testing
import URLLoading

@Suite("The API of NSNotification")
struct NsnotificationSurface {
    @Test("NSNotification.Name: constants")
    func nsNotificationNameConstants() {
        #expect(
            NSNotification.Name.NSHTTPCookieManagerCookiesChanged.rawValue
                == "NSHTTPCookieManagerCookiesChangedNotification")
        #expect(
            NSNotification.Name.NSHTTPCookieManagerAcceptPolicyChanged.rawValue
                == "NSHTTPCookieManagerAcceptPolicyChangedNotification")
        #expect(
            NSNotification.Name.NSURLCredentialStorageChanged.rawValue == "NSURLCredentialStorageChangedNotification")
    }
}

/// Names the API of `NSNotification.Name`.
private func nsNotificationNameMembers() {
    let _: Notification.Name = NSNotification.Name.NSHTTPCookieManagerCookiesChanged
    let _: Notification.Name = NSNotification.Name.NSHTTPCookieManagerAcceptPolicyChanged
    let _: Notification.Name = NSNotification.Name.NSURLCredentialStorageChanged
}
