// The fields of resumable uploads (draft-ietf-httpbis-resumable-upload, interop version 8): what a client says in them
// and what it reads out of an answer. A value of another form is as good as none (B11.37).
//
// Must not know: what follows from an answer; that is `ResumableUploadMachine`.

import URLLoadingWire

/// What is written in the fields of resumable uploads.
package enum UploadFields {
    /// The version of the draft that is spoken (B11.22, B11.23).
    package static let interopVersion: Int64 = 8
    /// The type of a part of a body (B11.32).
    package static let partialType = "application/partial-upload"

    /// Says which version of the draft a message follows.
    package static let version: FieldName = "Upload-Draft-Interop-Version"
    /// How much of the body there is, or where a part of it begins.
    package static let offset: FieldName = "Upload-Offset"
    /// Whether the body ends with this message, or has ended.
    package static let complete: FieldName = "Upload-Complete"
    /// What a server allows.
    package static let limit: FieldName = "Upload-Limit"

    /// What makes an ordinary upload one that can be resumed (B11.24).
    package static let creation: Fields = {
        var fields = Fields()
        fields.append(complete, "?1")
        fields.append(version, "\(interopVersion)")
        return fields
    }()

    /// What says that a program speaks the protocol itself: then nothing is added to its request.
    package static func isSpokenBy(program name: String) -> Bool {
        [version, offset, complete, limit, "Upload-Length"].contains(FieldName(name))
    }

    /// Whether a field of the upload's first request belongs to the requests that resume it too: all but those that
    /// speak of its body, or set conditions for it.
    package static func isKept(_ name: String) -> Bool {
        if isSpokenBy(program: name) { return false }
        let described = ["Expect", "Range", "Digest", "Repr-Digest", "Want-Repr-Digest", "Transfer-Encoding"]
        let text = FieldText.lowercased(name)
        return !text.hasPrefix("content-") && !text.hasPrefix("if-") && !ASCII.contains(described, name)
    }

    private enum FieldText {
        static func lowercased(_ name: String) -> String {
            String(decoding: name.utf8.map { ASCII.lowercase($0) }, as: UTF8.self)
        }
    }
}

/// What an answer says about an upload.
package struct UploadReport: Sendable, Equatable {
    /// The status of the answer.
    package let status: Int
    /// How much of the body the server has.
    package let offset: Int64?
    /// Whether it has all of it.
    package let isComplete: Bool?
    /// What it allows.
    package let limits: UploadLimits?
    /// Whether it follows the same version of the draft.
    package let isOfOurVersion: Bool

    /// Reads an answer.
    package init(_ head: ResponseHead) {
        status = head.status
        offset = Self.integer(head.fields, UploadFields.offset)
        if case .boolean(let value)? = head.fields.structuredItem(UploadFields.complete)?.value {
            isComplete = value
        } else {
            isComplete = nil
        }
        limits = UploadLimits(head.fields)
        isOfOurVersion = Self.integer(head.fields, UploadFields.version) == UploadFields.interopVersion
    }

    /// Whether the status is one of success.
    package var isSuccess: Bool { (200..<300).contains(status) }

    private static func integer(_ fields: Fields, _ name: FieldName) -> Int64? {
        guard case .integer(let value)? = fields.structuredItem(name)?.value, value >= 0 else { return nil }
        return value
    }
}

/// What a server allows (B11.36); in bytes and seconds.
package struct UploadLimits: Sendable, Equatable {
    /// The largest body.
    package private(set) var maxSize: Int64?
    /// The smallest body.
    package private(set) var minSize: Int64?
    /// The largest part of it in one request.
    package private(set) var maxAppendSize: Int64?
    /// The smallest part of it in one request, but for the last.
    package private(set) var minAppendSize: Int64?
    /// How long the upload resource still lives.
    package private(set) var maxAge: Int64?

    /// Limits.
    package init(
        maxSize: Int64? = nil, minSize: Int64? = nil, maxAppendSize: Int64? = nil, minAppendSize: Int64? = nil,
        maxAge: Int64? = nil
    ) {
        self.maxSize = maxSize
        self.minSize = minSize
        self.maxAppendSize = maxAppendSize
        self.minAppendSize = minAppendSize
        self.maxAge = maxAge
    }

    /// Reads the field; nil where there is none, where it is malformed, and where a key that is known stands for
    /// anything but a length. Other keys do not count.
    package init?(_ fields: Fields) {
        guard let members = fields.structuredDictionary(UploadFields.limit) else { return nil }
        self.init()
        for member in members {
            let path: WritableKeyPath<UploadLimits, Int64?>
            switch member.key {
            case "max-size": path = \.maxSize
            case "min-size": path = \.minSize
            case "max-append-size": path = \.maxAppendSize
            case "min-append-size": path = \.minAppendSize
            case "max-age": path = \.maxAge
            default: continue
            }
            guard case .item(.integer(let value)) = member.value, value >= 0 else { return nil }
            self[keyPath: path] = value
        }
    }
}
