// What is kept of an upload to go on with it later: resume data. JSON with a version, made and read here only. It holds
// no secrets, and it is read with as much care as if an attacker had written it.
//
// Must not know: tasks.

import Foundation
import URLLoadingPolicy

/// An upload that was begun before.
final class ResumedUpload: Sendable {
    /// Where the body comes from.
    enum Content: Sendable {
        case file(UploadedFile)
        case data(Data)
        /// A delegate supplies it (B11.30); with its length where that was announced.
        case stream(length: Int64?)
        /// The data are none; with a sentence that says so.
        case unusable(String)
    }

    let content: Content
    /// The URL of the upload resource.
    let resource: String
    /// What was read, to be given back by a task that never began.
    let data: Data

    /// What was read, where it is of use.
    var usableData: Data? { if case .unusable = content { nil } else { data } }

    static let unusableText = "The data with which the upload was to be resumed are not usable."

    private init(content: Content, resource: String, data: Data) {
        self.content = content
        self.resource = resource
        self.data = data
    }

    // MARK: Reading

    /// Reads resume data; what is not usable gives a task that says so (B11.29).
    static func read(_ data: Data) -> (ResumedUpload, URLRequest) {
        guard let form = form(of: data), let url = URL(string: form.url), let content = content(of: form) else {
            let none = ResumedUpload(content: .unusable(unusableText), resource: "", data: data)
            return (none, URLRequest(RequestValues()))
        }
        var request = URLRequest(url: url)
        request.httpMethod = form.method
        for field in form.fields where !RedirectRules.isCredential(field.name) {
            request.setValue(field.value, forHTTPHeaderField: field.name)
        }
        if let timeout = form.timeout, timeout > 0 { request.timeoutInterval = timeout }
        request.httpShouldHandleCookies = form.handlesCookies
        request.unixSocketPath = form.unixSocketPath
        return (ResumedUpload(content: content, resource: form.resource, data: data), request)
    }

    private static func form(of data: Data) -> Form? {
        guard data.count <= mostBytes, let form = try? JSONDecoder().decode(Form.self, from: data),
            form.version == Form.currentVersion
        else { return nil }
        return form
    }

    /// Exactly one source, and numbers that can be.
    private static func content(of form: Form) -> Content? {
        switch (form.file, form.body, form.isStream) {
        case (let file?, nil, false):
            guard file.path.hasPrefix("/"), !file.path.utf8.contains(0), file.byteCount > 0 else { return nil }
            return .file(file)
        case (nil, let body?, false): return body.isEmpty ? nil : .data(body)
        case (nil, nil, true): return (form.length ?? 0) >= 0 ? .stream(length: form.length) : nil
        case (_, _, _): return nil
        }
    }

    // MARK: Writing

    /// What is needed to go on with an upload; nil where its body will not be there any more.
    static func data(of progress: UploadProgress) -> Data? {
        guard let resource = progress.machine.resource, let url = progress.request.url else { return nil }
        var form = Form(resource: resource, url: withoutPassword(url), method: progress.request.values.method)
        switch progress.body {
        case .opened(_, let file?): form.file = file
        case .data(let data):
            // A program that stores resume data does not expect them to be of any size.
            guard data.count <= mostBody else { return nil }
            form.body = data
        case .delegate:
            form.isStream = true
            form.length = progress.request.values.announcedLength
        case .opened(_, nil), .request, .file, .part, .resuming: return nil
        }
        // Fields that are proofs are set anew when the upload goes on.
        form.fields = progress.request.values.fields.fields.filter { !RedirectRules.isCredential($0.name) }
            .map { Form.Field(name: $0.name, value: $0.value) }
        form.timeout = progress.request.values.explicitTimeout.flatMap { $0.isFinite ? $0 : nil }
        form.handlesCookies = progress.request.values.httpShouldHandleCookies
        // Over the network the same URL may lead to another server.
        form.unixSocketPath = progress.request.values.unixSocketPath
        return try? JSONEncoder().encode(form)
    }

    private static func withoutPassword(_ url: URL) -> String {
        var parts = URIReference(url.absoluteString)
        if let authority = parts.authority, let at = authority.utf8.lastIndex(of: UInt8(ascii: "@")) {
            parts.authority = String(authority[authority.utf8.index(after: at)...])
        }
        return parts.text
    }

    private static let mostBody = 4 << 20
    /// More than the largest body takes in base64.
    private static let mostBytes = 8 << 20
}

/// The form of resume data.
private struct Form: Codable {
    static let currentVersion = 1

    struct Field: Codable {
        let name: String
        let value: String
    }

    var version = Form.currentVersion
    let resource: String
    let url: String
    let method: String
    var fields: [Field] = []
    var timeout: Double?
    var handlesCookies = true
    var unixSocketPath: String?
    var file: UploadedFile?
    var body: Data?
    var isStream = false
    var length: Int64?

    init(resource: String, url: String, method: String) {
        self.resource = resource
        self.url = url
        self.method = method
    }
}
