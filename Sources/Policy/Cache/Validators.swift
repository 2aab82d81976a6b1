// The marks by which a server tells whether what is stored is still what it would send: RFC 9110 §8.8, §13.1,
// behaviour B7.71, B7.72, B7.75. They are compared here and put into the fields of a question; what follows from the
// answer is `ValidationRules`' business.

import URLLoadingWire

/// The validators of an answer.
package struct Validators: Sendable, Equatable {
    /// An entity tag.
    package struct Tag: Sendable, Equatable {
        /// As it came, `W/` included.
        package let text: String
        /// Whether it promises only that the meaning is the same.
        package let isWeak: Bool
        /// Whether it can be sent back. Bytes that are not UTF-8 can be compared as text, but would go out as others.
        fileprivate let isSendable: Bool

        /// The bytes without `W/`.
        private var opaque: Substring.UTF8View { text.utf8.dropFirst(isWeak ? 2 : 0) }

        /// Whether both are tags of one meaning: byte for byte (RFC 9110 §8.8.3.2).
        package func isWeaklyEqual(to other: Tag) -> Bool {
            isSendable == other.isSendable && opaque.elementsEqual(other.opaque)
        }

        package static func == (left: Tag, right: Tag) -> Bool {
            left.isWeak == right.isWeak && left.isWeaklyEqual(to: right)
        }
    }

    /// The ETag; nil where there is none that could be put into a condition.
    package let tag: Tag?
    /// The text of Last-Modified; nil where it is no date.
    package let lastModified: String?

    /// Reads the validators of an answer that came at a moment.
    package init(_ fields: Fields, time: WallTime) {
        var tags: [(text: String, isUTF8: Bool)] = []
        fields.forEachValue(.eTag) { tags.append(($0.text, $0.isUTF8)) }
        let areOne = tags.allSatisfy { $0.isUTF8 == tags[0].isUTF8 && $0.text.hasSameBytes(as: tags[0].text) }
        tag = areOne ? tags.first.flatMap { Self.tag($0.text, isSendable: $0.isUTF8) } : nil
        let dates = fields.values(.lastModified)
        let date = dates.allSatisfy { $0 == dates.first } ? dates.first : nil
        lastModified = date.flatMap { HTTPDate.parse($0, now: time) == nil ? nil : $0 }
    }

    /// The tag by which a server can be asked.
    package var sendableTag: Tag? { tag.flatMap { $0.isSendable ? $0 : nil } }

    /// Whether there is nothing to ask by (B7.40).
    package var isEmpty: Bool { sendableTag == nil && lastModified == nil }

    /// The fields that ask whether something has changed (B7.71).
    package var conditions: Fields {
        var fields = Fields()
        if let tag = sendableTag { fields.append(.ifNoneMatch, tag.text) }
        if let lastModified { fields.append(.ifModifiedSince, lastModified) }
        return fields
    }

    /// Whether the application asks a question of its own, or for a part: then nothing is answered here (B7.72).
    package static func asksItself(_ request: Fields) -> Bool {
        request.contains(.ifNoneMatch) || request.contains(.ifModifiedSince) || request.contains("If-Match")
            || request.contains("If-Unmodified-Since") || request.contains(.ifRange) || request.contains(.range)
    }

    /// A tag that can be put into a condition: in quotes, or without them but with nothing that means something there.
    private static func tag(_ text: String, isSendable: Bool) -> Tag? {
        let isWeak = text.utf8.starts(with: "W/".utf8)
        let opaque = text.utf8.dropFirst(isWeak ? 2 : 0)
        guard !opaque.isEmpty else { return nil }
        let isQuoted = opaque.count >= 2 && opaque.first == UInt8(ascii: "\"") && opaque.last == UInt8(ascii: "\"")
        let core = isQuoted ? opaque.dropFirst().dropLast() : opaque
        let isUsable = core.allSatisfy { byte in
            byte != UInt8(ascii: "\"") && byte > 0x20 && byte != 0x7F
                // Quirk: tags without quotes are common; they are sent back as they came.
                && (isQuoted || byte != UInt8(ascii: ",") && byte != UInt8(ascii: "*"))
        }
        return isUsable ? Tag(text: text, isWeak: isWeak, isSendable: isSendable) : nil
    }
}

extension StoredAnswer {
    /// The stored validators.
    package var validators: Validators { Validators(fields, time: responseTime) }
}
