// What the variables of --write-out are for one transfer.

import Foundation
import URLLoading

/// The values of one transfer.
struct WriteOutValues: WriteOutSource {
    private let result: TransferResult
    private let url: URL

    init(_ result: TransferResult, _ url: URL) {
        self.result = result
        self.url = url
    }

    func field(_ name: String) -> String { response?.value(forHTTPHeaderField: name) ?? "" }

    var fields: [HeaderField] { response.map(HeadText.fields) ?? [] }

    var isFailure: Bool { result.code != .success }

    func value(of variable: WriteOutVariable) -> String? {
        switch variable {
        case .contentType: response?.value(forHTTPHeaderField: "Content-Type")
        case .errormsg: result.message.isEmpty ? nil : URLSecrets.hidden(result.message)
        case .exitcode: "\(result.code.rawValue)"
        case .filename: result.path
        case .httpCode, .responseCode:
            // Three digits even where there was no answer, as in curl.
            String(format: "%03d", response?.statusCode ?? 0)
        case .httpVersion: ProtocolText.number(last)
        case .localIP: last?.localAddress ?? ""
        case .localPort: "\(last?.localPort ?? 0)"
        case .method: last?.request.httpMethod ?? ""
        case .headerJSON, .json, .newline, .onError, .standardError, .standardOutput: nil
        case .numConnects: "\(exchanges.count { $0.connectEndDate != nil })"
        case .numHeaders: "\(fields.count)"
        case .numRetries: "\(max(0, result.metrics.count - 1))"
        case .redirectURL: redirect
        case .referer: last?.request.value(forHTTPHeaderField: "Referer").map { URLSecrets.hidden($0) }
        case .sslVerifyResult: [.untrusted, .pinMismatch].contains(result.code) ? "1" : "0"
        case .speedUpload: "\(QuantityText.perSecond(last?.countOfRequestBodyBytesSent ?? 0, in: total))"
        case .timeRedirect: exchanges.count > 1 && redirects > 0 ? time(last?.fetchStartDate) : "0.000000"
        case .urlNumber: "\(result.number)"
        case .numRedirects: "\(redirects)"
        case .remoteIP: last?.remoteAddress ?? ""
        case .remotePort: "\(last?.remotePort ?? 0)"
        case .scheme: url.scheme ?? ""
        case .sizeDownload: "\(downloaded)"
        case .sizeHeader: "\(exchanges.reduce(0) { $0 + $1.countOfResponseHeaderBytesReceived })"
        case .sizeRequest: "\(exchanges.reduce(0) { $0 + $1.countOfRequestHeaderBytesSent })"
        case .sizeUpload: "\(last?.countOfRequestBodyBytesSent ?? 0)"
        case .speedDownload: "\(QuantityText.perSecond(downloaded, in: total))"
        case .timeAppConnect: time(last?.secureConnectionEndDate)
        case .timeConnect: time(last?.secureConnectionStartDate ?? last?.connectEndDate)
        case .timeNameLookup: time(last?.domainLookupEndDate)
        case .timePretransfer: time(last?.requestStartDate)
        case .timeStartTransfer: time(last?.responseStartDate)
        case .timeTotal: String(format: "%.6f", total)
        case .url: ResumeNote.name(of: url)
        case .urlEffective: response?.url.map(ResumeNote.name) ?? ResumeNote.name(of: url)
        }
    }

    /// Bytes of the body as they came over the wire: compressed ones as they are, and chunks without
    /// their frames, as in curl.
    private var downloaded: Int64 {
        guard let last, last.resourceFetchType == .networkLoad, last.networkProtocolName != nil else {
            return result.result.received
        }
        return last.countOfResponseBodyBytesBeforeDecoding
    }

    private var redirects: Int { result.metrics.last?.redirectCount ?? 0 }

    /// Where a redirect would have led that was not followed.
    private var redirect: String? {
        guard let response, (300..<400).contains(response.statusCode),
            let location = response.value(forHTTPHeaderField: "Location"),
            let url = URL(string: location, relativeTo: response.url)
        else { return nil }
        return ResumeNote.name(of: url.absoluteURL)
    }

    private var response: HTTPURLResponse? { result.result.response as? HTTPURLResponse }
    private var exchanges: [URLSessionTaskTransactionMetrics] { result.metrics.flatMap(\.transactionMetrics) }
    private var last: URLSessionTaskTransactionMetrics? { result.metrics.last?.transactionMetrics.last }
    private var total: Double { result.metrics.last?.taskInterval.duration ?? 0 }

    /// Seconds since the beginning of the last attempt.
    private func time(_ date: Date?) -> String {
        guard let date, let start = result.metrics.last?.taskInterval.start else { return "0.000000" }
        return String(format: "%.6f", max(0, date.timeIntervalSince(start)))
    }
}
