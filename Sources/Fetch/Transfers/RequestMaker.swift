// Makes the request that all attempts of a transfer begin with, and reads what has to be read for it.

import Foundation
import URLLoading

/// A request, and a file where its body is one.
struct PreparedRequest: Sendable {
    var request: URLRequest
    var bodyFile: URL?
    /// Whether standard input is the body of an upload task: schemes other than HTTP look at no other task's body.
    var isStreamedUpload = false
    /// Whether the body can be sent a second time.
    var canRepeat = true
    /// Whether nothing but the method and the file's name decides what comes.
    var isPlainGET: Bool

    /// The request to a URL. `read` is what had to be read for it, once for all URLs.
    init(_ url: URL, _ options: Options, _ read: ReadContents) throws(FetchError) {
        let body = read.body
        var request = URLRequest(url: Self.target(url, options.body))
        var method = "GET"
        switch options.body {
        case .none: break
        case .form, .json, .object:
            method = "POST"
            if case .data(let data) = body { request.httpBody = data }
        case .multipart:
            method = "POST"
            if case .form(let form) = body { request.setMultipartForm(form) }
        case .upload(let path):
            method = "PUT"
            // Without it the library would call the body of a POST a form.
            if options.method == "POST" {
                request.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
            }
            if path == "-" {
                isStreamedUpload = url.isFTP
                if !isStreamedUpload { request.httpBodyStream = StandardInput() }
                canRepeat = false
            } else {
                _ = try UploadFile.length(path)
                bodyFile = URL(fileURLWithPath: path)
            }
        }
        request.httpMethod = options.method ?? method
        if !options.acceptsCompression { request.setValue("identity", forHTTPHeaderField: "Accept-Encoding") }
        if case .form = options.body {
            request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        }
        if options.body.isJSON {
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            request.setValue("application/json", forHTTPHeaderField: "Accept")
        }
        if let token = options.bearerToken { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        for field in read.conditions { request.setValue(field.value, forHTTPHeaderField: field.name) }
        if let range = options.range { request.setValue("bytes=\(range)", forHTTPHeaderField: "Range") }
        if let cookies = options.cookieField { request.setValue(cookies, forHTTPHeaderField: "Cookie") }
        Self.add(options.fields, to: &request)
        if case .form(let form) = body, let kind = request.value(forHTTPHeaderField: "Content-Type"),
            kind != form.contentType
        {
            // A kind of multipart that the user has chosen needs the boundary all the same.
            request.setValue("\(kind); boundary=\(form.boundary)", forHTTPHeaderField: "Content-Type")
        }
        self.request = request
        isPlainGET =
            request.httpMethod == "GET" && request.value(forHTTPHeaderField: "Range") == nil && read.conditions.isEmpty
    }

    /// The first of a name takes the place of what is usual, others are added to it: cookies as one list (RFC 6265 §5.4).
    static func add(_ fields: [HeaderField], to request: inout URLRequest) {
        var seen: Set<String> = []
        for field in fields {
            if seen.insert(field.name.lowercased()).inserted {
                request.setValue(field.value, forHTTPHeaderField: field.name)
            } else if field.name.lowercased() == "cookie", let cookies = request.value(forHTTPHeaderField: "Cookie") {
                request.setValue("\(cookies); \(field.value)", forHTTPHeaderField: "Cookie")
            } else {
                request.addValue(field.value, forHTTPHeaderField: field.name)
            }
        }
    }

    /// A file that is uploaded to a directory goes there by its name.
    private static func target(_ url: URL, _ body: RequestBody) -> URL {
        guard case .upload(let path) = body, path != "-", url.path.isEmpty || url.absoluteString.hasSuffix("/") else {
            return url
        }
        return url.appendingPathComponent(OutputPlace.lastName(of: path), isDirectory: false)
    }
}

extension RequestBody {
    fileprivate var isJSON: Bool {
        switch self {
        case .json, .object: true
        default: false
        }
    }
}

/// Files that are sent from where they are.
enum UploadFile {
    /// The length of a file that can be read.
    static func length(_ path: String) throws(FetchError) -> Int64 {
        var facts = stat()
        guard stat(path, &facts) == 0, access(path, R_OK) == 0 else {
            throw FetchError(
                .cannotRead, "\(path) cannot be read: \(FetchError.system(errno))",
                advice: "is the name right? a name without / in front is in the folder that you are in")
        }
        guard facts.st_mode & S_IFMT == S_IFREG else {
            throw FetchError(.cannotRead, "\(path) is no regular file: - sends what comes on standard input")
        }
        return Int64(facts.st_size)
    }
}

/// What the options' files and standard input had to say, read once for all URLs.
struct ReadContents: Sendable {
    let body: ReadBody
    /// The fields that make the request conditional.
    let conditions: [HeaderField]
}

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
                // As in curl: line ends, and the byte that ends strings in C.
                result += keepsLines ? data : data.filter { $0 != 0x0A && $0 != 0x0D && $0 != 0 }
            case .encoded(let name, let source):
                let text = QueryText.form(try contents(of: source))
                result += Data(((name.map { $0 + "=" } ?? "") + text).utf8)
            }
        }
        return result
    }

    private static func object(_ members: [JSONMember]) throws(FetchError) -> Data {
        var parts: [String] = []
        for member in members {
            let value: String
            switch member.value {
            case .string(let source): value = JSONText.string(String(decoding: try contents(of: source), as: UTF8.self))
            case .raw(let source):
                let data = try contents(of: source)
                guard JSONText.isValue(data) else { throw FetchError(.cannotRead, "\(member.name) is no JSON") }
                value = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            }
            parts.append("\(JSONText.string(member.name)):\(value)")
        }
        return Data("{\(parts.joined(separator: ","))}".utf8)
    }

    private static func contents(of source: BodySource) throws(FetchError) -> Data {
        switch source {
        case .text(let text): Data(text.utf8)
        case .file(let path): try contents(of: path)
        }
    }

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
