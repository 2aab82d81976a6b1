// The number by which it is decided whether a failure may pass (`PassingFailures`).

import Foundation

/// Reads the code of `NSURLErrorDomain` out of an error.
enum FailureCode {
    /// The code; 0 for errors of other domains, and for what another time cannot change.
    static func of(_ error: any Error) -> Int64 {
        let bridged = error as NSError
        guard bridged.domain == NSURLErrorDomain else { return 0 }
        let code = URLError.Code(rawValue: bridged.code)
        let cause = bridged.userInfo[NSUnderlyingErrorKey]
        // A setting stays as it is, however often it is tried.
        if (cause as? NSError)?.userInfo[UnderlyingError.settingKey] != nil { return 0 }
        // A look-up that `requiresDNSSECValidation` forbids was never made: no resolver's failure is underneath.
        if code == .dnsLookupFailed, cause == nil { return 0 }
        return Int64(bridged.code)
    }
}
