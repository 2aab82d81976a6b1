// Requests and responses between their faces and the form in which they are kept and sent.
//
// Must not know: journals, processes.

import Foundation
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

extension TransferRequest {
    /// A request as it can be kept; nil where it has no URL, or a body that is a stream or too long.
    init?(_ request: URLRequest) {
        let values = request.values
        guard let url = values.url?.absoluteURL else { return nil }
        switch values.body {
        case .none: self.init(method: values.method, url: url.absoluteString)
        case .data(let data):
            guard data.count <= TransferLimits.body else { return nil }
            self.init(method: values.method, url: url.absoluteString, body: Array(data))
        case .stream: return nil
        }
        fields = values.fields.fields.map { TransferField($0.name, $0.value) }
        timeout = values.explicitTimeout.map { Duration(clampedSeconds: $0).wholeMilliseconds64 }
        cachePolicy = UInt32(truncatingIfNeeded: values.cachePolicy.rawValue)
        for (index, (_, path)) in RequestValues.flagKeys.enumerated() where values[keyPath: path] {
            flags |= 1 << UInt32(index)
        }
        unixSocketPath = values.unixSocketPath?.absoluteSocketPath
        mainDocumentURL = values.mainDocumentURL?.absoluteString
        maximumDecodedBytes = values.maximumDecodedBytes
        maximumDecodedRatio = values.maximumDecodedRatio
    }

    /// The request as the loader takes it; nil where the text is no URL.
    var urlRequest: URLRequest? {
        guard let url = URL(string: url) else { return nil }
        var values = RequestValues(url: url)
        values.method = method
        for field in fields { values.fields.set(field.value, for: field.name) }
        values.httpBody = body.map { Data($0) }
        values.explicitTimeout = timeout.map { TimeInterval($0) / 1000 }
        values.cachePolicy = NSURLRequest.CachePolicy(rawValue: UInt(cachePolicy)) ?? .useProtocolCachePolicy
        for (index, (_, path)) in RequestValues.flagKeys.enumerated() {
            values[keyPath: path] = flags & (1 << UInt32(index)) != 0
        }
        values.unixSocketPath = unixSocketPath
        values.mainDocumentURL = mainDocumentURL.flatMap { URL(string: $0) }
        values.maximumDecodedBytes = maximumDecodedBytes
        values.maximumDecodedRatio = maximumDecodedRatio
        return URLRequest(values)
    }
}

extension TransferRequest {
    /// The bit of the flags for a policy; no bit says that all cookies are taken.
    static func flag(of policy: HTTPCookie.AcceptPolicy) -> UInt32 {
        switch policy {
        case .always: 0
        case .never: takesNoCookies
        case .onlyFromMainDocumentDomain: takesFirstPartyCookies
        }
    }

    /// The policy under which cookies of redirects are taken.
    var cookiePolicy: HTTPCookie.AcceptPolicy {
        if flags & Self.takesNoCookies != 0 { return .never }
        return flags & Self.takesFirstPartyCookies != 0 ? .onlyFromMainDocumentDomain : .always
    }
}

extension TransferHead {
    /// A response as it can be kept; nil where it has no URL.
    init?(_ response: URLResponse) {
        guard let url = response.url?.absoluteString else { return nil }
        let length = max(-1, response.expectedContentLength)
        guard let response = response as? HTTPURLResponse else {
            self.init(url: url, status: 0, fields: [], expectedLength: length)
            return
        }
        self.init(
            url: url, status: UInt16(clamping: min(max(0, response.statusCode), 999)),
            fields: Self.fields(response.arrivedFields), expectedLength: length)
        guard status > 0 else { return }
        version = response.version == .http2 ? 20 : UInt8(clamping: 10 + response.version.minor)
        reason = response.unusualReason
        trailers = Self.fields(response.arrivedTrailers)
    }

    private static func fields(_ arrived: Fields) -> [TransferField] {
        (0..<arrived.count).map { TransferField(arrived.name(at: $0), arrived.value(at: $0)) }
    }

    /// The response as the program sees it; nil where the text is no URL.
    var response: URLResponse? {
        guard let url = URL(string: url) else { return nil }
        guard status > 0 else {
            return URLResponse(
                url: url, mimeType: nil, expectedContentLength: Int(clamping: expectedLength), textEncodingName: nil)
        }
        let response = HTTPURLResponse(
            url: url, status: Int(status), fields: Self.arrived(fields), expectedContentLength: expectedLength,
            version: version == 20 ? .http2 : HTTPVersion(minor: Int(version) - 10), unusualReason: reason)
        end(response)
        return response
    }

    /// Gives a response, made when its head came, what has come behind its body.
    func end(_ response: HTTPURLResponse) {
        if !trailers.isEmpty { response.ended(with: Self.arrived(trailers)) }
    }

    private static func arrived(_ fields: [TransferField]) -> Fields {
        var arrived = Fields()
        for field in fields { arrived.append(field.name, field.value) }
        return arrived
    }
}

extension String {
    /// The path of a socket as a process finds it that works in another directory; as it is where that fits no address.
    var absoluteSocketPath: String {
        guard !hasPrefix("/"), SocketAddress.unix(self) != nil else { return self }
        let path = FileManager.default.currentDirectoryPath + "/" + self
        return SocketAddress.unix(path) == nil ? self : path
    }
}

extension Duration {
    /// Whole milliseconds, of what is bounded anyway.
    var wholeMilliseconds64: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }
}
