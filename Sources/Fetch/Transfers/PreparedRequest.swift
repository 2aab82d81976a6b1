// The request that all attempts of a transfer begin with.

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
        request = URLRequest(url: Self.target(url, options.body))
        isPlainGET = false
        let usualMethod = try takeBody(options, read.body, isFTP: url.isFTP)
        request.httpMethod = options.method ?? usualMethod
        addFields(options, read.conditions)
        if case .form(let form) = read.body { addBoundary(of: form) }
        isPlainGET =
            request.httpMethod == "GET" && request.value(forHTTPHeaderField: "Range") == nil && read.conditions.isEmpty
    }

    /// Gives the request its body; the method that such a body goes with, unless the user names one.
    private mutating func takeBody(_ options: Options, _ body: ReadBody, isFTP: Bool) throws(FetchError) -> String {
        switch options.body {
        case .none:
            return "GET"
        case .form, .json, .object:
            if case .data(let data) = body { request.httpBody = data }
            return "POST"
        case .multipart:
            if case .form(let form) = body { request.setMultipartForm(form) }
            return "POST"
        case .upload(let path):
            // Without it the library would call the body of a POST a form.
            if options.method == "POST" {
                request.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
            }
            if path == "-" {
                isStreamedUpload = isFTP
                if !isStreamedUpload { request.httpBodyStream = StandardInput() }
                canRepeat = false
            } else {
                _ = try UploadFile.length(path)
                bodyFile = URL(fileURLWithPath: path)
            }
            return "PUT"
        }
    }

    /// Order: what is usual first, since the user's own fields take its place.
    private mutating func addFields(_ options: Options, _ conditions: [HeaderField]) {
        if !options.acceptsCompression { request.setValue("identity", forHTTPHeaderField: "Accept-Encoding") }
        if case .form = options.body {
            request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        }
        if options.body.isJSON {
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            request.setValue("application/json", forHTTPHeaderField: "Accept")
        }
        if let token = options.bearerToken { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        for field in conditions { request.setValue(field.value, forHTTPHeaderField: field.name) }
        if let range = options.range { request.setValue("bytes=\(range)", forHTTPHeaderField: "Range") }
        if let cookies = options.cookieField { request.setValue(cookies, forHTTPHeaderField: "Cookie") }
        Self.add(options.fields, to: &request)
    }

    /// A kind of multipart that the user has chosen needs the boundary all the same.
    private mutating func addBoundary(of form: URLRequest.MultipartForm) {
        guard let kind = request.value(forHTTPHeaderField: "Content-Type"), kind != form.contentType else { return }
        request.setValue("\(kind); boundary=\(form.boundary)", forHTTPHeaderField: "Content-Type")
    }

    /// The first of a name takes the place of what is usual, others are added to it: cookies as
    /// one list (RFC 6265 §5.4).
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
        case .none, .form, .multipart, .upload: false
        }
    }
}

/// What the options' files and standard input had to say, read once for all URLs.
struct ReadContents: Sendable {
    let body: ReadBody
    /// The fields that make the request conditional.
    let conditions: [HeaderField]
}
