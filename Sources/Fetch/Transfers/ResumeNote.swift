// The note beside a download that is not whole: of which version of which resource it is a part. Without it it could
// not be told whether the rest belongs to what is there. Readable by its owner only, for URLs may hold secrets.

import Foundation
import URLLoading

/// Which resource a part is of.
package struct ResumeNote: Codable, Equatable, Sendable {
    /// The form of the note itself.
    package var version = 1
    /// Without user, password and fragment.
    package var url: String
    /// The value for If-Range: a strong entity tag, or a date.
    package var validator: String

    /// The note for an answer; nil where nothing in it would tell another version apart, or where its bytes are coded.
    package init?(url: URL, status: Int, entityTag: String?, lastModified: String?, date: String?, coding: String?) {
        guard status == 200, coding.map({ $0.isEmpty || $0 == "identity" }) ?? true else { return nil }
        if let entityTag, entityTag.hasPrefix("\""), entityTag.hasSuffix("\""), entityTag.utf8.count > 1 {
            validator = entityTag
        } else if let lastModified, let changed = HTTPDate.read(lastModified), let now = date.flatMap(HTTPDate.read),
            now.timeIntervalSince(changed) >= 60
        {
            // RFC 9110 §8.8.2.2: a date is strong only if it is old enough for another change to have shown.
            validator = lastModified
        } else {
            return nil
        }
        self.url = Self.name(of: url)
    }

    /// A URL as notes have it.
    package static func name(of url: URL) -> String {
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return url.absoluteString }
        parts.user = nil
        parts.password = nil
        parts.fragment = nil
        return parts.string ?? url.absoluteString
    }

    /// The note in a file, of our own and of this form; nil where there is none that can be believed.
    static func read(_ path: String) -> ResumeNote? {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_uid == geteuid(),
            facts.st_mode & 0o077 == 0, facts.st_size <= 65_536
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(facts.st_size))
        guard Foundation.read(descriptor, &bytes, bytes.count) == bytes.count,
            let note = try? JSONDecoder().decode(ResumeNote.self, from: Data(bytes)), note.version == 1,
            !note.validator.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
        else { return nil }
        return note
    }

    /// Writes the note in one step; what cannot be written is only missed later.
    func write(_ path: String) {
        guard let data = try? JSONEncoder().encode(self) else { return }
        _ = PrivateFile.write(data, to: path)
    }
}

/// Dates in fields (RFC 9110 §5.6.7): the one form that may be sent, and the two older ones that are read.
package enum HTTPDate {
    private static let sentForm = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    private static let oldForms = ["EEEE, dd-MMM-yy HH:mm:ss 'GMT'", "EEE MMM d HH:mm:ss yyyy"]

    /// The date; nil for what is none.
    package static func read(_ text: String) -> Date? {
        for form in [sentForm] + oldForms {
            if let date = formatter(form).date(from: text) { return date }
        }
        return nil
    }

    /// The text of a date.
    package static func text(_ date: Date) -> String { formatter(sentForm).string(from: date) }

    private static func formatter(_ form: String) -> DateFormatter {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = form
        return formatter
    }
}
