// Cookies as lines of text, so that they can be kept in a file. The last line says how many there are: a file that was
// torn, or that something else has written, is not taken for one.
//
// Must not know files; whatever the bytes are, reading them ends in cookies or in nothing.

/// The form in which cookies are kept.
package enum CookieFile {
    /// Longer files are not read, and so not written.
    package static let mostBytes = 64 << 20

    /// The cookies as text.
    package static func encode(_ cookies: [Cookie]) -> [UInt8] {
        var text = firstLine + "\n"
        for cookie in cookies { text += line(cookie) + "\n" }
        text += "\(lastWord) \(cookies.count)\n"
        return Array(text.utf8)
    }

    /// The cookies as a text of at most so many bytes: the longest of `new` are left out where it would be longer.
    package static func encode(
        _ cookies: [Cookie], atMost limit: Int, new: [Cookie]
    ) -> (text: [UInt8], leftOut: Set<Cookie.Identity>) {
        let text = encode(cookies)
        var excess = text.count - limit
        if excess <= 0 { return (text, []) }
        // Some of `new` may have lost their place among the others.
        let isNew = Set(new.map(\.identity))
        let lengths = cookies.filter { isNew.contains($0.identity) }
            .map { (identity: $0.identity, bytes: line($0).utf8.count + 1) }
        var leftOut: Set<Cookie.Identity> = []
        for (identity, bytes) in lengths.sorted(by: { $0.bytes > $1.bytes }) where excess > 0 {
            leftOut.insert(identity)
            excess -= bytes
        }
        return (encode(cookies.filter { !leftOut.contains($0.identity) }), leftOut)
    }

    /// The cookies of a text; nil for what `encode` has not written, or not all of it.
    package static func decode(_ bytes: [UInt8]) -> [Cookie]? {
        guard bytes.last == UInt8(ascii: "\n") else { return nil }
        var lines = bytes.dropLast().split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
        guard let first = lines.popFirst(), first.elementsEqual(firstLine.utf8), let last = lines.popLast(),
            last.elementsEqual("\(lastWord) \(lines.count)".utf8)
        else { return nil }
        var cookies: [Cookie] = []
        for line in lines {
            guard let cookie = cookie(line) else { return nil }
            cookies.append(cookie)
        }
        return cookies
    }

    private static let firstLine = "URLLoading cookies 1"
    private static let lastWord = "end"

    // MARK: Lines

    private static func line(_ cookie: Cookie) -> String {
        var flags = ""
        if cookie.isHostOnly { flags += "h" }
        if cookie.hasOwnPath { flags += "p" }
        if cookie.isSecure { flags += "s" }
        if cookie.isHTTPOnly { flags += "o" }
        if cookie.isFromScript { flags += "j" }
        if cookie.version == 1 { flags += "1" }
        let words = [
            cookie.name, cookie.value, cookie.domain, cookie.path, flags, cookie.expires.map { "\($0)" } ?? "",
            "\(cookie.created)", cookie.sameSite?.rawValue ?? "",
            (cookie.ports ?? []).map { "\($0)" }.joined(separator: ","), cookie.comment ?? "", cookie.commentURL ?? "",
        ]
        return words.map(escaped).joined(separator: "\t")
    }

    private static func cookie(_ line: ArraySlice<UInt8>) -> Cookie? {
        let words = line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false).map(unescaped)
        guard words.count == 11, let name = words[0], let value = words[1], let domain = words[2], let path = words[3],
            let flags = words[4], let expires = words[5], let created = words[6].flatMap(moment),
            let sameSite = words[7],
            let ports = words[8], let comment = words[9], let commentURL = words[10]
        else { return nil }
        guard !name.isEmpty, Cookie.isText(name), Cookie.isText(value), !domain.isEmpty,
            path.utf8.first == UInt8(ascii: "/"),
            expires.isEmpty || moment(expires) != nil
        else { return nil }
        var cookie = Cookie(
            name: name, value: value, domain: domain, isHostOnly: flags.contains("h"), path: path,
            expires: moment(expires), created: created)
        cookie.hasOwnPath = flags.contains("p")
        cookie.isSecure = flags.contains("s")
        cookie.isHTTPOnly = flags.contains("o")
        cookie.isFromScript = flags.contains("j")
        cookie.version = flags.contains("1") ? 1 : 0
        cookie.sameSite = CookieSameSite(rawValue: sameSite)
        cookie.ports = CookiePorts.read(ports, version: 1)
        cookie.comment = comment.isEmpty ? nil : comment
        cookie.commentURL = commentURL.isEmpty ? nil : commentURL
        return cookie
    }

    private static func moment(_ text: String) -> Double? {
        guard let moment = Double(text), moment.isFinite else { return nil }
        return moment
    }

    // MARK: Words

    /// Bytes that would end a word or a line become `%` and two digits.
    private static func escaped(_ word: String) -> String {
        guard word.utf8.contains(where: isSpecial) else { return word }
        var bytes: [UInt8] = []
        for byte in word.utf8 {
            if isSpecial(byte) {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func unescaped(_ word: ArraySlice<UInt8>) -> String? {
        var bytes: [UInt8] = []
        var rest = word
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(ASCII.hexValue), let low = rest.popFirst().flatMap(ASCII.hexValue)
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func isSpecial(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == 0x7F || byte == UInt8(ascii: "%")
    }

    private static let digits = Array("0123456789ABCDEF".utf8)
}
