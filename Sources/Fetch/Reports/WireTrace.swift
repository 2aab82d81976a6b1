// What --verbose says: which server answered, what was sent and what came, exchange by exchange, and no secret.

import Foundation
import URLLoading

/// The exchanges of a task as lines.
enum WireTrace {
    static func lines(_ metrics: URLSessionTaskMetrics) -> [String] {
        metrics.transactionMetrics.flatMap(lines)
            + ["* took \(QuantityText.duration(metrics.taskInterval.duration)) in all"]
    }

    private static func lines(about exchange: URLSessionTaskTransactionMetrics) -> [String] {
        var lines: [String] = []
        if let address = exchange.remoteAddress, let port = exchange.remotePort {
            let connection = exchange.isReusedConnection ? "a connection that was open already" : "a new connection"
            let place = exchange.isProxyConnection ? "the proxy \(address) port \(port)" : "\(address) port \(port)"
            lines.append("* \(place), by \(connection)\(security(of: exchange))")
        }
        lines += request(exchange)
        if let response = exchange.response as? HTTPURLResponse {
            lines.append("< \(response.statusLine)")
            lines += HeadText.fields(response).map { "< \($0.name): \(SecretFields.shown($0.name, $0.value))" }
        }
        let times = Phase.all(exchange).map { "\($0.name) \(QuantityText.duration($0.duration))" }
        if !times.isEmpty { lines.append("* " + times.joined(separator: ", ")) }
        lines.append(
            "* sent \(exchange.countOfRequestHeaderBytesSent) bytes of head and "
                + "\(exchange.countOfRequestBodyBytesSent) of body, received "
                + "\(exchange.countOfResponseHeaderBytesReceived) bytes of head and "
                + "\(exchange.countOfResponseBodyBytesReceived) of body, "
                + "\(exchange.countOfResponseBodyBytesAfterDecoding) decoded")
        return lines
    }

    private static func request(_ exchange: URLSessionTaskTransactionMetrics) -> [String] {
        // A request of which no byte was sent is none.
        guard exchange.countOfRequestHeaderBytesSent > 0, let url = exchange.request.url else { return [] }
        let query = url.query(percentEncoded: true).map { "?\($0)" } ?? ""
        let path = url.path(percentEncoded: true)
        let line = "> \(exchange.request.httpMethod ?? "GET") \(path.isEmpty ? "/" : path)\(query)"
        let version = ProtocolText.name(exchange).map { " \($0)" } ?? ""
        return [line + version]
            + HeadText.requestFields(exchange).map { "> \($0.name): \(SecretFields.shown($0.name, $0.value))" }
    }

    private static func security(of exchange: URLSessionTaskTransactionMetrics) -> String {
        exchange.negotiatedTLSProtocolVersion == nil ? "" : ", " + TLSText.version(exchange)
    }
}

/// TLS in words.
enum TLSText {
    /// The version that an exchange's connection has, such as "TLS 1.3".
    static func version(_ exchange: URLSessionTaskTransactionMetrics) -> String {
        switch exchange.negotiatedTLSProtocolVersion {
        case .TLSv10?: "TLS 1.0"
        case .TLSv11?: "TLS 1.1"
        case .TLSv12?: "TLS 1.2"
        case .TLSv13?: "TLS 1.3"
        case .some(let version): "TLS version \(version.rawValue)"
        case nil: "no TLS"
        }
    }
}

/// What --verbose says about questions.
enum ChallengeText {
    static func lines(about challenge: URLAuthenticationChallenge) -> [String] {
        let space = challenge.protectionSpace
        let asker = space.isProxy() ? "the proxy \(space.host) port \(space.port)" : "\(space.host) port \(space.port)"
        if let trust = space.serverTrust {
            let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate] ?? []
            return chain.enumerated().map { number, certificate in
                let name =
                    SecCertificateCopySubjectSummary(certificate).map { "\($0)" } ?? "a certificate without a name"
                let end = SecCertificateCopyNotValidAfterDate(certificate).map { ", until \($0)" } ?? ""
                return "* \(asker) shows certificate \(number + 1): \(name)\(end)"
            }
        }
        let method = space.authenticationMethod.replacingOccurrences(of: "NSURLAuthenticationMethod", with: "")
        let realm = space.realm.map { " for \"\($0)\"" } ?? ""
        let again = challenge.previousFailureCount > 0 ? ", as what it got was wrong" : ""
        return ["* \(asker) asks who we are, by \(method)\(realm)\(again)"]
    }
}
