// Cookies in files, in the form of Netscape's browser that curl and wget read and write: seven
// columns, divided by tabs.

import Foundation
import URLLoading

/// Reads and writes cookies.
package enum CookieFile {
    /// The cookies in a file.
    static func read(_ path: String) throws(FetchError) -> [HTTPCookie] {
        do throws(InputFile.Unreadable) {
            return cookies(in: String(decoding: try InputFile.contents(of: path), as: UTF8.self))
        } catch {
            throw FetchError(.cannotRead, "\(path) cannot be read: \(error.reason)")
        }
    }

    /// Writes cookies for their owner alone, in place of the file that was there.
    static func write(_ cookies: [HTTPCookie], to path: String) throws(FetchError) {
        try PrivateFile.write(Data(text(of: cookies).utf8), named: path)
    }

    /// The cookies in a text; lines that are none are passed over.
    package static func cookies(in text: String) -> [HTTPCookie] {
        text.split(whereSeparator: \.isNewline).compactMap { cookie(String($0)) }
    }

    /// The text of cookies.
    package static func text(of cookies: [HTTPCookie]) -> String {
        // A tab is part of nothing but a value, which is the last column.
        let lines = cookies.filter { !($0.domain + $0.path + $0.name).contains("\t") }.map { cookie in
            let domain = cookie.domain
            return [
                (cookie.isHTTPOnly ? "#HttpOnly_" : "") + domain, domain.hasPrefix(".") ? "TRUE" : "FALSE", cookie.path,
                cookie.isSecure ? "TRUE" : "FALSE", "\(Int64(cookie.expiresDate?.timeIntervalSince1970 ?? 0))",
                cookie.name, cookie.value,
            ].joined(separator: "\t")
        }
        return
            ([
                "# Netscape HTTP Cookie File",
                "# Written by fetch. These cookies are as good as a password: keep the file to yourself.",
            ]
            + lines.sorted())
            .joined(separator: "\n") + "\n"
    }

    private static func cookie(_ line: String) -> HTTPCookie? {
        var line = line
        let isHTTPOnly = line.hasPrefix("#HttpOnly_")
        if isHTTPOnly { line.removeFirst("#HttpOnly_".count) } else if line.hasPrefix("#") { return nil }
        let columns = line.split(separator: "\t", maxSplits: 6, omittingEmptySubsequences: false).map(String.init)
        guard columns.count == 7, !columns[0].isEmpty, let expires = Double(columns[4]) else { return nil }
        let host = columns[0].hasPrefix(".") ? String(columns[0].dropFirst()) : columns[0]
        var properties: [HTTPCookiePropertyKey: Any] = [
            .path: columns[2], .name: columns[5], .value: columns[6],
            .domain: columns[1] == "TRUE" ? "." + host : host,
        ]
        if columns[3] == "TRUE" { properties[.secure] = "TRUE" }
        if isHTTPOnly { properties[HTTPCookiePropertyKey("HttpOnly")] = "TRUE" }
        if expires > 0 { properties[.expires] = Date(timeIntervalSince1970: min(expires, 253_402_300_799)) }
        return HTTPCookie(properties: properties)
    }
}
