// Writes what stands around the parts of a form (RFC 7578, RFC 2046 §5.1.1); names are escaped as browsers do it
// (WHATWG HTML, "multipart/form-data encoding algorithm"), so that no name can end its quotes or its line.
//
//     --boundary CRLF fields CRLF CRLF  body CRLF  … --boundary-- CRLF
//
// Must not know: what the bodies are, and where they come from.

/// What a multipart form is made of besides its parts' bodies.
package enum MultipartEncoder {
    /// What stands before a part's body: the delimiter line and the fields.
    package static func head(boundary: String, name: String, fileName: String?, type: String?) -> [UInt8] {
        var bytes = Array("--\(boundary)\r\nContent-Disposition: form-data; name=\"".utf8)
        append(name, to: &bytes, escapesQuotes: true)
        if let fileName {
            bytes += Array("\"; filename=\"".utf8)
            append(fileName, to: &bytes, escapesQuotes: true)
        }
        bytes.append(ASCII.quote)
        if let type {
            bytes += Array("\r\nContent-Type: ".utf8)
            append(type, to: &bytes, escapesQuotes: false)
        }
        return bytes + Array("\r\n\r\n".utf8)
    }

    /// What stands behind a part's body.
    package static var partEnd: [UInt8] { [ASCII.carriageReturn, ASCII.lineFeed] }

    /// What stands behind the last part.
    package static func end(boundary: String) -> [UInt8] { Array("--\(boundary)--\r\n".utf8) }

    private static func append(_ text: String, to bytes: inout [UInt8], escapesQuotes: Bool) {
        for byte in text.utf8 {
            switch byte {
            case ASCII.quote where escapesQuotes: bytes += Array("%22".utf8)
            case ASCII.carriageReturn: bytes += Array("%0D".utf8)
            case ASCII.lineFeed: bytes += Array("%0A".utf8)
            default: bytes.append(byte)
            }
        }
    }
}
