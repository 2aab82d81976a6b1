// A multipart form as it goes over the wire (RFC 7578): texts in memory, files by their names and lengths, so that the
// whole length is known before the first byte is read.

import Foundation

/// The body of a form.
package struct FormBody: Sendable {
    /// A stretch of the body.
    enum Segment: Sendable {
        case bytes(Data)
        case file(String, length: Int64)

        var length: Int64 {
            switch self {
            case .bytes(let data): Int64(data.count)
            case .file(_, let length): length
            }
        }
    }

    let segments: [Segment]
    /// What stands between the parts. Nobody can have put it into a part who does not know it.
    let boundary: String

    let length: Int64

    /// Reads what must be in memory, and looks at the files.
    init(_ parts: [FormPart]) throws(FetchError) {
        boundary = "fetch-" + UUID().uuidString
        var segments: [Segment] = []
        for part in parts {
            segments.append(.bytes(Data(Self.head(of: part, boundary).utf8)))
            segments.append(try Self.content(of: part))
            segments.append(.bytes(Data("\r\n".utf8)))
        }
        self.segments = segments + [.bytes(Data("--\(boundary)--\r\n".utf8))]
        guard let length = Self.sum(of: self.segments.map(\.length)) else {
            throw FetchError(.cannotRead, "the files of the form are longer together than a request can say")
        }
        self.length = length
    }

    /// How long stretches are together; nil where no number says it. Files with holes are of any length.
    package static func sum(of lengths: [Int64]) -> Int64? {
        var sum: Int64 = 0
        for length in lengths {
            let (next, overflows) = sum.addingReportingOverflow(length)
            if overflows { return nil }
            sum = next
        }
        return sum
    }

    private static func head(of part: FormPart, _ boundary: String) -> String {
        var name = part.fileName
        var type = part.type
        if case .file(let path) = part.content {
            name = name ?? (path == "-" ? "-" : (path as NSString).lastPathComponent)
            type = type ?? usualType(of: name ?? path)
        }
        return "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(escaped(part.name))\""
            + (name.map { "; filename=\"\(escaped($0))\"" } ?? "")
            + (type.map { "\r\nContent-Type: \($0)" } ?? "") + "\r\n\r\n"
    }

    private static func content(of part: FormPart) throws(FetchError) -> Segment {
        switch part.content {
        case .text(let text): return .bytes(Data(text.utf8))
        case .textOfFile(let path): return .bytes(try BodyReader.contents(of: path))
        case .file("-"): return .bytes(try BodyReader.contents(of: "-"))
        case .file(let path): return .file(path, length: try UploadFile.length(path))
        }
    }

    /// As browsers do (WHATWG HTML, multipart/form-data): what would end the quotes or the line cannot.
    static func escaped(_ name: String) -> String {
        var text = ""
        for scalar in name.unicodeScalars {
            switch scalar {
            case "\"": text += "%22"
            case "\r": text += "%0D"
            case "\n": text += "%0A"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    /// What a file's ending says; servers that need more are told by `;type=`.
    private static func usualType(of name: String) -> String {
        let types = [
            "gif": "image/gif", "jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png", "svg": "image/svg+xml",
            "txt": "text/plain", "htm": "text/html", "html": "text/html", "pdf": "application/pdf",
            "xml": "application/xml", "json": "application/json",
        ]
        return types[(name as NSString).pathExtension.lowercased()] ?? "application/octet-stream"
    }
}
