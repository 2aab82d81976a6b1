// The way of a response into a file of the cache and back. A class of the program's own comes back as the class of this
// library that it was made from.
//
// Must not know: files, capacities.

import Foundation
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

extension CacheRecord {
    /// Everything of a response but its body.
    init(_ cached: CachedURLResponse, key: CacheKey, answer: StoredAnswer, storedAt: Int64) {
        let response = cached.response
        let http = response as? HTTPURLResponse
        self.init(
            key: key.text, url: response.url?.absoluteString, answer: answer, isHTTP: http != nil,
            expectedLength: response.expectedContentLength, mimeType: http == nil ? response.mimeType : nil,
            textEncoding: http == nil ? response.textEncodingName : nil, storedAt: storedAt,
            userInfo: PropertyListInfo.encoded(cached.userInfo).map(Array.init) ?? [])
    }

    /// The response.
    var response: URLResponse {
        let url = url.flatMap { URL(string: $0) }
        return isHTTP
            ? HTTPURLResponse(url, answer, expectedLength: expectedLength)
            : .other(url, expectedLength: expectedLength, mimeType: mimeType, textEncoding: textEncoding)
    }
}

extension URLResponse {
    /// Whether it is of one of this library's own classes.
    var isPlain: Bool { type(of: self) == HTTPURLResponse.self || type(of: self) == URLResponse.self }

    /// The response itself where its class is the library's. Else a copy of what it says; that of an HTTP response has
    /// the head of its answer.
    fileprivate func plain(with answer: StoredAnswer) -> URLResponse {
        if isPlain { return self }
        return self is HTTPURLResponse
            ? HTTPURLResponse(url, answer, expectedLength: expectedContentLength)
            : .other(url, expectedLength: expectedContentLength, mimeType: mimeType, textEncoding: textEncodingName)
    }

    /// One that is not HTTP's.
    fileprivate static func other(
        _ url: URL?, expectedLength: Int64, mimeType: String?, textEncoding: String?
    ) -> URLResponse {
        guard let url else { return URLResponse() }
        return URLResponse(
            url: url, mimeType: mimeType, expectedContentLength: Int(clamping: expectedLength),
            textEncodingName: textEncoding)
    }
}

extension HTTPURLResponse {
    /// The response that a stored answer is.
    convenience init(_ url: URL?, _ answer: StoredAnswer, expectedLength: Int64) {
        self.init(
            url: url, status: answer.status, fields: answer.fields, expectedContentLength: expectedLength,
            trust: answer.trust)
    }
}

extension CachedURLResponse {
    /// What a file holds; the body stays where it is.
    convenience init(_ entry: DiskCache.Entry) {
        let record = entry.record
        self.init(
            response: record.response, data: entry.data,
            userInfo: record.userInfo.isEmpty ? nil : PropertyListInfo.decoded(Data(record.userInfo)),
            storagePolicy: .allowed, answer: record.answer)
    }

    /// The response and how it came: as the loader says, or else that it came just now, by this request.
    func prepared(for request: URLRequest, at now: WallTime) -> (CachedURLResponse, StoredAnswer) {
        if let answer { return (self, answer) }
        let http = response as? HTTPURLResponse
        let fields = http?.arrivedFields ?? Fields()
        var random = Chance()
        let answer = StoredAnswer(
            status: http.map { min(max($0.statusCode, 0), 999) } ?? 0, fields: fields, requestTime: now,
            responseTime: now,
            selection: Selection(
                answer: fields, request: SelectingFields.of(request),
                salt: SipHash.Words(random.next(), random.next())),
            trust: trust)
        return (coming(as: answer), answer)
    }

    /// The stored response itself where its class is the library's. Else a copy of what it says, so that it is not
    /// asked again.
    func plain(with answer: StoredAnswer) -> CachedURLResponse {
        if isPlain { return self }
        return CachedURLResponse(
            response: response.plain(with: answer), data: data, userInfo: userInfo, storagePolicy: storagePolicy,
            answer: answer)
    }

    /// This response with what is known of how it came. An object of a class of the program's own stays what
    /// it is.
    func coming(as answer: StoredAnswer) -> CachedURLResponse {
        guard type(of: self) == CachedURLResponse.self else {
            comes(by: answer.trust)
            return self
        }
        if self.answer == answer { return self }
        return CachedURLResponse(
            response: response, data: data, userInfo: userInfo, storagePolicy: storagePolicy, answer: answer)
    }
}

extension StoredAnswer {
    /// A copy with the head that a program wants to keep in place of the server's.
    func under(_ response: URLResponse) -> StoredAnswer {
        guard let response = response as? HTTPURLResponse else { return self }
        var answer = self
        answer.status = min(max(response.statusCode, 0), 999)
        answer.fields = response.arrivedFields
        return answer
    }
}

extension DiskCache.Entry {
    /// The body; a long one is not copied, and keeps what was read of its file.
    var data: Data {
        withBody { body in
            guard body.count > Self.copiedUpTo, let start = body.baseAddress else { return Data(body) }
            let file = file
            return Data(
                bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: body.count,
                deallocator: .custom { _, _ in withExtendedLifetime(file) {} })
        }
    }

    /// Picked by feel: below this a copy costs less than keeping the head of the file in memory.
    private static let copiedUpTo = 32 * 1024
}

/// The fields by which a request selects among answers.
enum SelectingFields {
    /// The fields a request has, and those that it would be sent with (B7.82).
    static func of(_ request: URLRequest) -> Fields {
        var fields = Fields()
        for field in request.values.fields.fields { fields.append(field.name, field.value) }
        let defaults = DefaultFields(acceptLanguage: AcceptLanguage.ofEnvironment, userAgent: UserAgent.ofProcess)
        let values: [(FieldName, String?)] = [
            (.accept, defaults.accept), (.acceptLanguage, defaults.acceptLanguage),
            (.acceptEncoding, defaults.acceptEncoding(besides: fields)), (.userAgent, defaults.userAgent),
        ]
        for (name, value) in values {
            if let value, !fields.contains(name) { fields.append(name, value) }
        }
        return fields
    }
}
