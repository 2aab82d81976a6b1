// Reads what the options say of a body: texts, files and standard input. What is sent from where it is stays there.

import Foundation
import URLLoading

/// What a body came to when it was read.
enum ReadBody: Sendable {
    /// There is none, or it is sent from where it is.
    case none
    case data(Data)
    case form(URLRequest.MultipartForm)
}

/// What pieces of a body come to.
enum BodyReader {
    /// Reads what cannot be sent from where it is.
    static func read(_ body: RequestBody) throws(FetchError) -> ReadBody {
        switch body {
        case .none, .upload: return .none
        case .form(let pieces): return .data(try joined(pieces))
        case .json(let pieces): return .data(try joined(pieces, by: Data()))
        case .object(let members): return .data(try object(members))
        case .multipart(let parts): return .form(try URLRequest.MultipartForm(parts))
        }
    }

    /// Pieces of a form or of a query, one behind the other.
    static func joined(_ pieces: [BodyPiece], by separator: Data = Data("&".utf8)) throws(FetchError) -> Data {
        var result = Data()
        for (number, piece) in pieces.enumerated() {
            if number > 0 { result += separator }
            switch piece {
            case .text(let text): result += Data(text.utf8)
            case .file(let path, let keepsLines):
                let data = try contents(of: path)
                if keepsLines { result += data } else { result.append(contentsOf: withoutLineEnds(data)) }
            case .encoded(let name, let source):
                let text = QueryText.form(try bytes(of: source))
                result += Data(((name.map { $0 + "=" } ?? "") + text).utf8)
            }
        }
        return result
    }

    /// As in curl: without line ends, and the byte that ends strings in C. Of an array, since `Data`
    /// would grow byte by byte.
    private static func withoutLineEnds(_ data: Data) -> [UInt8] {
        [UInt8](data).filter { $0 != 0x0A && $0 != 0x0D && $0 != 0 }
    }

    private static func object(_ members: [JSONMember]) throws(FetchError) -> Data {
        var parts: [String] = []
        for member in members {
            let value: String
            switch member.value {
            case .string(let source): value = JSONText.string(String(decoding: try bytes(of: source), as: UTF8.self))
            case .raw(let source):
                let data = try bytes(of: source)
                guard JSONText.isValue(data) else { throw FetchError(.cannotRead, "\(member.name) is no JSON") }
                value = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            }
            parts.append("\(JSONText.string(member.name)):\(value)")
        }
        return Data("{\(parts.joined(separator: ","))}".utf8)
    }

    private static func bytes(of source: BodySource) throws(FetchError) -> Data {
        switch source {
        case .text(let text): Data(text.utf8)
        case .file(let path): try contents(of: path)
        }
    }

    /// The bytes of a file, or of standard input where it is `-`.
    static func contents(of path: String) throws(FetchError) -> Data {
        do throws(InputFile.Unreadable) {
            return try InputFile.contents(ofInputOr: path)
        } catch {
            guard path != "-" else {
                throw FetchError(.cannotRead, "standard input cannot be read: \(error.reason)")
            }
            throw FetchError(
                .cannotRead, "\(path) cannot be read: \(error.reason)",
                advice: "is the name right? a text that begins with @ is sent by --data-raw and --form-string")
        }
    }
}
