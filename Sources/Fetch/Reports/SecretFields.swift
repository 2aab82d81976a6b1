// Which fields hold secrets, and what is shown of them. Pure. The library has such a list too, of what a
// redirect does not take along; this one hides all of that, but for the challenges, in which servers only ask.

/// Fields whose values are secrets.
package enum SecretFields {
    /// What stands in a secret's place.
    package static let mask = "(not shown)"

    private static let names: Set<String> = [
        "authorization", "proxy-authorization", "cookie", "cookie2", "set-cookie2", "authentication-info",
        "proxy-authentication-info", "authentication", "token", "dpop",
    ]

    /// The many names that services have given to their secrets.
    private static let endings = [
        "-authorization", "-token", "-secret", "-password", "-cookie", "apikey", "api-key", "access-key",
        "subscription-key",
    ]

    /// Whether a field's value is a secret.
    package static func holds(_ name: String) -> Bool {
        let name = name.lowercased()
        return names.contains(name) || endings.contains(where: name.hasSuffix)
            || name.hasPrefix("x-") && name.hasSuffix("-key")
    }

    /// The value as it may be shown. URLs stand in many fields, and passwords in URLs.
    package static func shown(_ name: String, _ value: String) -> String {
        holds(name) ? mask : URLSecrets.hidden(value)
    }
}
