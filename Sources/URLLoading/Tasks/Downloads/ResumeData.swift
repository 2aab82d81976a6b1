// The data by which a download is taken up again: what was asked, how much of the answer is in which file, and by what
// the server is asked for the rest (B9.24). Made here and read back from anywhere, so that nothing in it is believed.
//
// A text of our own, with a version. It names a file in our temporary directory and no path, and it has none of the
// fields that are secrets, nor the user in a URL: the download proves itself anew when it is resumed.
//
// Must not know: tasks, where the directory is.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingWire

/// What is needed to go on with a download.
struct ResumeData: Sendable {
    /// The request that the download began with, without what must not be stored.
    let request: URLRequest
    /// How many bytes of the body are in the file.
    let byteCount: Int64
    /// The length of the whole body, where it is known.
    let total: Int64?
    let validator: ResumeValidator
    /// The name of the file, which is in our temporary directory.
    let fileName: String
    /// All of it as the program sees it.
    let encoded: Data

    /// Makes data of what there is; nil where the request cannot be kept.
    init?(request: URLRequest, byteCount: Int64, total: Int64?, validator: ResumeValidator, fileName: String) {
        guard let archived = ArchivedRequest(request) else { return nil }
        let text: String
        var (isTag, size) = (false, Int64?.none)
        switch validator {
        case .tag(let tag): (text, isTag) = (tag, true)
        case .date(let date): text = date
        case .file(let state): (text, size) = (state.date, state.size)
        }
        let archive = Archive(
            format: Self.format, version: Self.version, request: archived, bytes: byteCount, total: total,
            validator: text, isTag: isTag, size: size, file: fileName)
        guard let data = try? JSONEncoder().encode(archive) else { return nil }
        // Whatever would not be read again is not given out.
        self.init(data)
    }

    /// Reads data from wherever they come; nil where they are not ours, or not right (B9.32).
    init?(_ data: Data) {
        guard !data.isEmpty, data.count <= Self.longest,
            let archive = try? JSONDecoder().decode(Archive.self, from: data), archive.format == Self.format,
            archive.version == Self.version, let request = archive.request.request,
            (1...Self.mostBytes).contains(archive.bytes), FileNaming.downloads.isPartial(archive.file)
        else { return nil }
        if let total = archive.total, !(archive.bytes...Self.mostBytes).contains(total) { return nil }
        // Each protocol has validators of its own.
        let isHTTP = request.url?.scheme.map { Scheme($0) != nil } ?? false
        guard
            let validator = archive.size.map({ Self.fileValidator(archive, ofSize: $0) })
                ?? Self.validator(archive.validator, isTag: archive.isTag), isHTTP == (archive.size == nil)
        else { return nil }
        self.request = request
        byteCount = archive.bytes
        total = archive.total
        self.validator = validator
        fileName = archive.file
        encoded = data
    }

    /// The validator once more as if it had just come in a response.
    private static func validator(_ text: String, isTag: Bool) -> ResumeValidator? {
        var fields = Fields()
        fields.append(isTag ? .eTag : .lastModified, text)
        let validators = Validators(fields, time: .now)
        guard text.utf8.count <= longestValidator else { return nil }
        if isTag { return validators.tag.flatMap { $0.isWeak ? nil : .tag($0.text) } }
        return validators.lastModified.map { .date($0) }
    }

    /// The validator of a file on an FTP server: its size and date.
    private static func fileValidator(_ archive: Archive, ofSize size: Int64) -> ResumeValidator? {
        guard size == archive.total, FTPFileState.isDate(archive.validator.utf8) else { return nil }
        return .file(FTPFileState(size: size, date: archive.validator))
    }

    private struct Archive: Codable {
        var format: String
        var version: Int
        var request: ArchivedRequest
        var bytes: Int64
        var total: Int64?
        var validator: String
        var isTag: Bool
        /// Of a file on an FTP server.
        var size: Int64?
        var file: String
    }

    private static let format = "URLLoading download"
    private static let version = 1
    /// Picked by feel: several times the longest fields that servers take.
    private static let longest = 256 * 1024
    private static let longestValidator = 1024
    /// No file is longer, and no sum of two such numbers overflows.
    private static let mostBytes: Int64 = 1 << 60
}

/// The values of a GET request as they are kept.
private struct ArchivedRequest: Codable {
    var url: String
    var mainDocumentURL: String?
    var cachePolicy: UInt
    var timeout: Double?
    var serviceType: UInt
    var attribution: UInt
    var fields: [[String]]
    var flags: [String: Bool]
    var cookiePartition: String?
    var unixSocketPath: String?
    var maximumDecodedBytes: Int64?
    var maximumDecodedRatio: Int64?

    init?(_ request: URLRequest) {
        let values = request.values
        guard let url = values.url?.withoutUser else { return nil }
        self.url = url.absoluteString
        mainDocumentURL = values.mainDocumentURL?.withoutUser?.absoluteString
        cachePolicy = values.cachePolicy.rawValue
        timeout = values.explicitTimeout.flatMap { $0.isFinite ? $0 : nil }
        serviceType = values.networkServiceType.rawValue
        attribution = values.attribution.rawValue
        fields = values.fields.fields.filter { !RedirectRules.isCredential($0.name) }.map { [$0.name, $0.value] }
        flags = Dictionary(
            RequestValues.flagKeys.map { ($0.0, values[keyPath: $0.1]) }, uniquingKeysWith: { first, _ in first })
        cookiePartition = values.cookiePartitionIdentifier
        unixSocketPath = values.unixSocketPath
        maximumDecodedBytes = values.maximumDecodedBytes
        maximumDecodedRatio = values.maximumDecodedRatio
    }

    /// The request again; nil where it is none that could have been kept.
    var request: URLRequest? {
        guard let url = URL(string: url), let scheme = url.scheme,
            Scheme(scheme) != nil || BuiltInScheme.named(scheme)?.canBeginInside == true
        else { return nil }
        var values = RequestValues(url: url)
        values.mainDocumentURL = mainDocumentURL.flatMap { URL(string: $0) }
        values.cachePolicy = NSURLRequest.CachePolicy(rawValue: cachePolicy) ?? .useProtocolCachePolicy
        values.explicitTimeout = timeout
        values.networkServiceType = NSURLRequest.NetworkServiceType(rawValue: serviceType) ?? .default
        values.attribution = NSURLRequest.Attribution(rawValue: attribution) ?? .developer
        for field in fields where field.count == 2 && !RedirectRules.isCredential(field[0]) {
            values.fields.set(field[1], for: field[0])
        }
        for (name, path) in RequestValues.flagKeys { if let flag = flags[name] { values[keyPath: path] = flag } }
        values.cookiePartitionIdentifier = cookiePartition
        values.unixSocketPath = unixSocketPath
        values.maximumDecodedBytes = maximumDecodedBytes
        values.maximumDecodedRatio = maximumDecodedRatio
        return URLRequest(values)
    }
}
