// Which fields hold what nobody else should read, and what is shown of them. Pure.

/// Fields whose values are secrets.
package enum SecretFields {
    /// What stands in a secret's place.
    package static let mask = "(not shown)"

    private static let names: Set<String> = [
        "authorization", "proxy-authorization", "cookie", "cookie2", "set-cookie", "set-cookie2", "x-api-key",
        "api-key", "x-auth-token", "x-csrf-token", "x-xsrf-token", "x-amz-security-token", "authentication-info",
        "proxy-authentication-info", "private-token",
    ]

    /// Whether a field's value is a secret.
    package static func holds(_ name: String) -> Bool {
        let name = name.lowercased()
        return names.contains(name) || name.hasSuffix("-token") || name.hasSuffix("-secret")
            || name.hasSuffix("-key")
                && name.hasPrefix("x-")
    }

    /// The value as it may be shown. URLs stand in many fields, and passwords in URLs.
    package static func shown(_ name: String, _ value: String) -> String {
        holds(name) ? mask : URLSecrets.hidden(value)
    }
}
