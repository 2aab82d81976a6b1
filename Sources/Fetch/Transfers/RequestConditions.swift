// When an answer is wanted: the fields of a request that --time-cond and --etag-compare make, and the
// tag that --etag-save keeps.

import Foundation
import URLLoading

/// Conditions of requests (RFC 9110 §13).
package enum RequestConditions {
    /// The fields that the options ask for.
    static func fields(_ options: Options) throws(FetchError) -> [HeaderField] {
        var fields: [HeaderField] = []
        switch options.condition {
        case .changedSince(let text)?: fields.append(HeaderField(name: "If-Modified-Since", value: try date(text)))
        case .unchangedSince(let text)?: fields.append(HeaderField(name: "If-Unmodified-Since", value: try date(text)))
        case nil: break
        }
        // Without a tag, or a file, the condition holds always, as in curl.
        if let file = options.comparedTag {
            fields.append(HeaderField(name: "If-None-Match", value: try tag(in: file) ?? "\"\""))
        }
        return fields
    }

    /// Keeps the tag of an answer; nothing where it has none.
    static func save(_ response: HTTPURLResponse, to file: String) throws(FetchError) {
        guard let tag = response.value(forHTTPHeaderField: "ETag") else { return }
        let line = Data((tag + "\n").utf8)
        if try OutputPlace(file).writeThrough(line) { return }
        do {
            try line.write(to: URL(fileURLWithPath: file), options: .atomic)
        } catch {
            throw FetchError(.cannotWrite, "\(file) cannot be written: \(error.localizedDescription)")
        }
    }

    private static func tag(in file: String) throws(FetchError) -> String? {
        let data: Data
        do throws(InputFile.Unreadable) {
            data = try InputFile.contents(of: file)
        } catch {
            if error.number == ENOENT { return nil }
            throw FetchError(.cannotRead, "\(file) cannot be read: \(error.reason)")
        }
        guard let text = String(data: data, encoding: .utf8) else { return nil }
        let tag = text.prefix { !$0.isNewline }.trimmingCharacters(in: .whitespaces)
        return tag.isEmpty || tag.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F } ? nil : tag
    }

    private static func date(_ text: String) throws(FetchError) -> String {
        var facts = stat()
        if stat(text, &facts) == 0 { return HTTPDate.text(Date(timeIntervalSince1970: Double(facts.st_mtim.tv_sec))) }
        guard let date = date(in: text) else {
            throw FetchError(
                .usage, "\(text) is neither a file nor a date",
                advice: "a date is such as 2026-11-28 or \"2026-11-28 18:30\"")
        }
        return HTTPDate.text(date)
    }

    /// A date in one of the forms that are understood, in UTC where it names no zone.
    package static func date(in text: String) -> Date? {
        if let date = HTTPDate.read(text) { return date }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.isLenient = false
        for format in [
            "yyyy-MM-dd", "yyyy-MM-dd HH:mm", "yyyy-MM-dd HH:mm:ss", "yyyy-MM-dd'T'HH:mm:ssXXXXX", "yyyyMMdd",
            "EEE, dd MMM yyyy HH:mm:ss zzz", "dd MMM yyyy HH:mm:ss zzz", "dd MMM yyyy HH:mm:ss", "dd MMM yyyy",
            "MMM dd yyyy",
        ] {
            formatter.dateFormat = format
            if let date = formatter.date(from: text) { return date }
        }
        return nil
    }
}
