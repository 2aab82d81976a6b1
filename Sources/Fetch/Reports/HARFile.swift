// Makes an archive of what was measured. Secrets stay out of it unless they are asked for; the file is its owner's
// either way, since URLs and bodies may hold others.

import Foundation
import URLLoading

/// Writes archives.
enum HARFile {
    static func write(_ metrics: [URLSessionTaskMetrics], keepingSecrets: Bool, to path: String) throws(FetchError) {
        let entries = metrics.flatMap(\.transactionMetrics).map { entry($0, keepingSecrets) }
        guard let data = try? HAR(log: HAR.Log(entries: entries)).data() else {
            throw FetchError(.cannotWrite, "\(path) cannot be written: the archive is no JSON")
        }
        try PrivateFile.write(data, named: path)
    }

    private static func entry(_ exchange: URLSessionTaskTransactionMetrics, _ keepingSecrets: Bool) -> HAR.Entry {
        let start = exchange.fetchStartDate ?? Date(timeIntervalSince1970: 0)
        let end = exchange.responseEndDate ?? exchange.responseStartDate ?? exchange.requestEndDate ?? start
        let timings = HAR.Timings(Phase.all(exchange), total: end.timeIntervalSince(start))
        return HAR.Entry(
            startedDateTime: start.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)),
            time: timings.sum, request: request(exchange, keepingSecrets), response: response(exchange, keepingSecrets),
            timings: timings, serverIPAddress: exchange.remoteAddress, connection: exchange.remotePort.map(String.init))
    }

    private static func request(_ exchange: URLSessionTaskTransactionMetrics, _ keepingSecrets: Bool) -> HAR.Request {
        let request = exchange.request
        let fields = HeadText.requestFields(exchange)
        let parts = request.url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true) }
        let cookies = fields.filter { $0.name.lowercased() == "cookie" }
            .flatMap { $0.value.split(separator: ";") }
            .map { $0.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false) }
            .map { parts in
                let name = parts[0].trimmingCharacters(in: .whitespaces)
                let value = parts.count > 1 ? String(parts[1]) : ""
                return HAR.Cookie(name: name, value: keepingSecrets ? value : SecretFields.mask)
            }
        var postData: HAR.PostData?
        if let body = request.httpBody {
            // Forms hold passwords as often as anything else.
            postData = HAR.PostData(
                mimeType: request.value(forHTTPHeaderField: "Content-Type") ?? "",
                text: keepingSecrets ? String(decoding: body, as: UTF8.self) : SecretFields.mask)
        }
        return HAR.Request(
            method: request.httpMethod ?? "GET", url: request.url.map(ResumeNote.name) ?? "",
            httpVersion: ProtocolText.name(exchange) ?? unknown, cookies: cookies,
            headers: pairs(fields, keepingSecrets),
            queryString: (parts?.queryItems ?? []).map { HAR.Pair(name: $0.name, value: $0.value ?? "") },
            postData: postData, headersSize: exchange.countOfRequestHeaderBytesSent,
            bodySize: exchange.countOfRequestBodyBytesSent)
    }

    private static func response(_ exchange: URLSessionTaskTransactionMetrics, _ keepingSecrets: Bool) -> HAR.Response {
        let response = exchange.response as? HTTPURLResponse
        let fields = response.map(HeadText.fields) ?? []
        let strings = response?.allHeaderFields as? [String: String] ?? [:]
        let location = response?.value(forHTTPHeaderField: "Location") ?? ""
        let set = exchange.request.url.map { HTTPCookie.cookies(withResponseHeaderFields: strings, for: $0) } ?? []
        let (received, decoded) = (
            exchange.countOfResponseBodyBytesReceived, exchange.countOfResponseBodyBytesAfterDecoding
        )
        return HAR.Response(
            status: response?.statusCode ?? 0,
            statusText: response.map(HeadText.reason) ?? "",
            httpVersion: ProtocolText.name(exchange) ?? unknown,
            cookies: set.map { HAR.Cookie(name: $0.name, value: keepingSecrets ? $0.value : SecretFields.mask) },
            headers: pairs(fields, keepingSecrets),
            content: HAR.Content(
                size: decoded, compression: decoded > received ? decoded - received : nil,
                mimeType: response?.value(forHTTPHeaderField: "Content-Type") ?? "x-unknown"),
            redirectURL: keepingSecrets ? location : URLSecrets.hidden(location),
            headersSize: response == nil ? -1 : exchange.countOfResponseHeaderBytesReceived,
            bodySize: response == nil ? -1 : received)
    }

    private static func pairs(_ fields: [HeaderField], _ keepingSecrets: Bool) -> [HAR.Pair] {
        fields.map { field in
            HAR.Pair(
                name: field.name, value: keepingSecrets ? field.value : SecretFields.shown(field.name, field.value))
        }
    }

    /// The version of an exchange that had no answer, and of one with the cache.
    private static let unknown = "unknown"
}
