// --write-out: a text of the user's with numbers in it, for scripts. The names are curl's. The text is read with the rest
// of the command line, so that a name that nobody knows is a mistake and not an empty place.

import Foundation
import URLLoading

/// A text with variables.
package struct WriteOutFormat: Sendable {
    private enum Piece: Sendable {
        case text(String)
        case variable(Variable)
        case field(String)
    }

    /// What can stand between `%{` and `}`.
    package enum Variable: String, CaseIterable, Sendable {
        case contentType = "content_type"
        case errormsg
        case exitcode
        case filename = "filename_effective"
        case httpCode = "http_code"
        case httpVersion = "http_version"
        case localIP = "local_ip"
        case localPort = "local_port"
        case method
        case newline = "newline"
        case numConnects = "num_connects"
        case numRedirects = "num_redirects"
        case remoteIP = "remote_ip"
        case remotePort = "remote_port"
        case responseCode = "response_code"
        case scheme
        case sizeDownload = "size_download"
        case sizeHeader = "size_header"
        case sizeRequest = "size_request"
        case sizeUpload = "size_upload"
        case speedDownload = "speed_download"
        case timeAppConnect = "time_appconnect"
        case timeConnect = "time_connect"
        case timeNameLookup = "time_namelookup"
        case timePretransfer = "time_pretransfer"
        case timeStartTransfer = "time_starttransfer"
        case timeTotal = "time_total"
        case url
        case urlEffective = "url_effective"
    }

    private let pieces: [Piece]

    /// Reads a text; `%%` is a percent sign, `\n`, `\r` and `\t` are what they are in C, `%header{name}` is a field.
    package init(_ text: String) throws(UsageError) {
        var pieces: [Piece] = []
        var plain = ""
        var rest = text[...]
        while let character = rest.popFirst() {
            if character == "\\", let next = rest.popFirst() {
                plain += ["n": "\n", "r": "\r", "t": "\t"][next] ?? "\\\(next)"
            } else if character == "%", rest.hasPrefix("%") {
                rest.removeFirst()
                plain += "%"
            } else if character == "%", rest.hasPrefix("{") || rest.hasPrefix("header{"),
                let end = rest.firstIndex(of: "}"),
                let start = rest.firstIndex(of: "{")
            {
                let name = String(rest[rest.index(after: start)..<end])
                if !plain.isEmpty { pieces.append(.text(plain)) }
                plain = ""
                if rest.hasPrefix("header") {
                    pieces.append(.field(name))
                } else {
                    guard let variable = Variable(rawValue: name) else {
                        let near = Variable.allCases.min {
                            Spelling.distance($0.rawValue, name) < Spelling.distance($1.rawValue, name)
                        }
                        throw UsageError(
                            "--write-out knows no %{\(name)}" + (near.map { "; did you mean %{\($0.rawValue)}?" } ?? "")
                        )
                    }
                    pieces.append(.variable(variable))
                }
                rest = rest[rest.index(after: end)...]
            } else {
                plain.append(character)
            }
        }
        if !plain.isEmpty { pieces.append(.text(plain)) }
        self.pieces = pieces
    }

    /// The text with everything in its place. What comes from a server cannot steer a terminal.
    package func text(_ values: any WriteOutSource) -> String {
        pieces.map { piece in
            switch piece {
            case .text(let text): text
            case .variable(.newline): "\n"
            case .variable(let variable): VisibleText.of(values.value(of: variable))
            case .field(let name): VisibleText.of(values.field(name))
            }
        }.joined()
    }
}

/// What variables are taken from.
package protocol WriteOutSource {
    /// A variable's value.
    func value(of variable: WriteOutFormat.Variable) -> String
    /// A field of the answer; empty where there is none.
    func field(_ name: String) -> String
}

/// The values of one transfer.
struct WriteOutValues: WriteOutSource {
    private let result: TransferResult
    private let url: URL

    init(_ result: TransferResult, _ url: URL) {
        self.result = result
        self.url = url
    }

    func field(_ name: String) -> String { response?.value(forHTTPHeaderField: name) ?? "" }

    func value(of variable: WriteOutFormat.Variable) -> String {
        switch variable {
        case .contentType: field("Content-Type")
        case .errormsg: URLSecrets.hidden(result.message)
        case .exitcode: "\(result.code.rawValue)"
        case .filename: result.path ?? ""
        case .httpCode, .responseCode:
            // Three digits even where there was no answer, as in curl.
            String(format: "%03d", response?.statusCode ?? 0)
        case .httpVersion: ProtocolText.number(last)
        case .localIP: last?.localAddress ?? ""
        case .localPort: "\(last?.localPort ?? 0)"
        case .method: last?.request.httpMethod ?? ""
        case .newline: "\n"
        case .numConnects: "\(exchanges.count { $0.connectStartDate != nil })"
        case .numRedirects: "\(result.metrics.last?.redirectCount ?? 0)"
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

    /// Bytes of the body as they came over the wire: compressed ones as they are, and chunks without their frames, as in curl.
    private var downloaded: Int64 {
        guard let last, last.resourceFetchType == .networkLoad, last.networkProtocolName != nil else {
            return result.result.received
        }
        return last.countOfResponseBodyBytesBeforeDecoding
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
