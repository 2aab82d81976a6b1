// What --tls says: the certificates that a server has shown, their names, dates and pins, what was agreed upon, and by
// what it was judged.

import Foundation
import URLLoading

/// The TLS of a transfer as lines.
enum TLSReport {
    /// The lines about the certificates, and the last exchange if there was one.
    static func lines(_ chain: [SecCertificate], _ result: AttemptResult, _ options: Options, now: Date = Date())
        -> [String]
    {
        guard !chain.isEmpty else { return ["TLS: none was spoken, or by a connection that was open already"] }
        var lines: [String] = []
        if let exchange = result.metrics?.transactionMetrics.last(where: { $0.negotiatedTLSProtocolVersion != nil }) {
            let cipher = exchange.negotiatedTLSCipherSuite.map { ", \($0)" } ?? ""
            let version = ProtocolText.name(exchange).map { ", with \($0)" } ?? ""
            lines.append("TLS: \(TLSText.version(exchange))\(cipher)\(version)")
        }
        for (number, certificate) in chain.enumerated() { lines += self.lines(certificate, number + 1, now) }
        let isTrusted = result.failure.map { ![.untrusted, .pinMismatch].contains($0.code) } ?? true
        lines.append("judged by \(judge(options)): \(isTrusted ? "trusted" : "refused")")
        return lines
    }

    private static func lines(_ certificate: SecCertificate, _ number: Int, _ now: Date) -> [String] {
        let name = SecCertificateCopySubjectSummary(certificate).map { "\($0)" } ?? "without a name"
        var lines = ["certificate \(number): \(name)"]
        let hosts = certificate.hostNames
        if !hosts.isEmpty { lines.append("  for        \(hosts.joined(separator: ", "))") }
        lines.append("  issued by  \(certificate.issuerDescription)")
        if let begin = SecCertificateCopyNotValidBeforeDate(certificate) as? Date,
            let end = SecCertificateCopyNotValidAfterDate(certificate) as? Date
        {
            lines.append("  good       from \(day(begin)) until \(day(end)), \(rest(from: now, until: end))")
        }
        return lines + ["  pin        sha256//\(certificate.publicKeyPin)"]
    }

    private static func day(_ date: Date) -> String {
        date.formatted(Date.ISO8601FormatStyle(dateSeparator: .dash, timeZone: .gmt).year().month().day())
    }

    private static func rest(from now: Date, until end: Date) -> String {
        let days = (end.timeIntervalSince(now) / 86_400).rounded(.down)
        guard days >= 0 else { return "which is over" }
        return days < 1e6 ? "for \(Int(days)) days more" : "for ever"
    }

    private static func judge(_ options: Options) -> String {
        if options.acceptsAnyCertificate { return "nothing (--insecure)" }
        let anchors = [options.anchorFile, options.anchorFolder].compactMap(\.self)
        let base =
            anchors.isEmpty ? "the system's certificates" : "the certificates of \(anchors.joined(separator: " and "))"
        return base + (options.pins.isEmpty ? "" : " and \(QuantityText.count(options.pins.count, "pin"))")
    }
}
