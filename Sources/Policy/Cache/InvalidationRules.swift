// Which stored answers an exchange makes worthless: RFC 9111 §4.4, behaviour B7.84 to B7.86. It must not know whether
// anything is stored.

import URLLoadingWire

/// Decides what a method that changes things takes out of a cache.
package enum InvalidationRules {
    /// The keys to be forgotten after an answer of `status` to `method` on a URL.
    package static func keys(method: String, url: String, status: Int, fields: Fields) -> [CacheKey] {
        // B7.85: an error has changed nothing.
        guard !isSafe(method), (200...399).contains(status), let target = CacheKey(url) else { return [] }
        var keys = [target]
        for name in [FieldName.location, .contentLocation] {
            guard let location = fields.reference(name),
                let place = RedirectTarget.resolve(location: location, against: url), let key = CacheKey(place),
                key.hasSameOrigin(as: target), !keys.contains(key)
            else { continue }
            keys.append(key)
        }
        return keys
    }

    /// Whether a method changes nothing (RFC 9110 §9.2.1); unknown ones do (B7.84).
    private static func isSafe(_ method: String) -> Bool {
        switch method {
        case "GET", "HEAD", "OPTIONS", "TRACE": true
        default: false
        }
    }
}
