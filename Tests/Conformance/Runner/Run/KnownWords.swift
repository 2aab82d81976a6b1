// What the words in braces stand for: ports, dates, certificates, compressed text.
//
// Must not know: the steps of a case. docs/conformance-cases.md.

import Foundation
import URLLoadingLoopbackServer
import URLLoadingTestSupport
import URLLoadingWire

/// The words of a running case.
struct KnownWords: Sendable {
    /// The ports of servers and proxies, by their names.
    let ports: [String: Int]
    let certificates: Certificates
    /// Seconds since 1970 when the case began.
    let now: Int64

    /// Text with everything in it replaced.
    func bytes(_ text: CaseText) throws -> [UInt8] {
        try text.parts.flatMap { part -> [UInt8] in
            switch part {
            case .bytes(let bytes): bytes
            case .words(let words): try bytes(words)
            }
        }
    }

    /// The same as text.
    func text(_ text: CaseText) throws -> String { String(decoding: try bytes(text), as: UTF8.self) }

    /// JSON with everything in its strings replaced; a string of nothing but a port or a time becomes a number.
    func json(_ value: JSONValue) throws -> JSONValue {
        switch value {
        case .null, .bool, .integer, .number, .base64: return value
        case .string(let string):
            let parsed: CaseText
            do throws(CaseFault) {
                parsed = try CaseText(string, withEscapes: false)
            } catch {
                throw CaseFailure(error.reason)
            }
            if parsed.parts.count == 1, case .words(let words)? = parsed.parts.first, let number = try number(words) {
                return .integer(number)
            }
            return .string(try text(parsed))
        case .array(let elements): return .array(try elements.map(json))
        case .object(let members):
            return .object(try members.map { JSONMember(name: $0.name, value: try json($0.value)) })
        }
    }

    private func number(_ words: [String]) throws -> Int64? {
        switch words[0] {
        case "port" where words.count == 2: Int64(try port(words[1]))
        case "ms" where words.count == 2: (now + (Int64(words[1]) ?? 0)) * 1000
        default: nil
        }
    }

    private func bytes(_ words: [String]) throws -> [UInt8] {
        if let number = try number(words) { return Array("\(number)".utf8) }
        let rest = Array(words.dropFirst())
        let time = now + (Int64(rest.first ?? "") ?? 0)
        switch (words[0], rest.count) {
        case ("date", 0...1): return Array(Self.date(time).utf8)
        case ("rfc850", 0...1): return Array(Self.date(time, "EEEE, dd-MMM-yy HH:mm:ss 'GMT'").utf8)
        case ("asctime", 0...1): return Array(Self.date(time, "EEE MMM d HH:mm:ss yyyy").utf8)
        case ("gzip", 1...): return compressed(rest, .gzip)
        case ("zlib", 1...): return compressed(rest, .zlib)
        case ("deflate", 1...): return compressed(rest, .raw)
        case ("base64", 1...): return Array(Data(rest.joined(separator: " ").utf8).base64EncodedData())
        case ("codings", 0): return Array(CodingLibraries.system.acceptEncoding.utf8)
        case ("pem", 1): return Array(try certificates.named(rest[0]).certificate.pem.utf8)
        case ("chain", 1):
            return Array(try certificates.named(rest[0]).chain.certificates.map(\.pem).joined().utf8)
        case ("key", 1): return Array(try certificates.named(rest[0]).identity.keyPEM.utf8)
        case ("spki", 1):
            return Array(Data(try certificates.named(rest[0]).certificate.spkiSHA256).base64EncodedData())
        case ("crl", 1...):
            return Array(
                try certificates.revocationList(of: rest[0], revoking: Array(rest.dropFirst()), isStale: false).utf8)
        case ("stale-crl", 1...):
            return Array(
                try certificates.revocationList(of: rest[0], revoking: Array(rest.dropFirst()), isStale: true).utf8)
        case (let name, 0) where ports[name] != nil: return Array("127.0.0.1:\(try port(name))".utf8)
        default: throw CaseFailure("it is not known what {\(words.joined(separator: " "))} stands for")
        }
    }

    private func port(_ name: String) throws -> Int {
        guard let port = ports[name] else { throw CaseFailure("there is no server \(name)") }
        return port
    }

    private func compressed(_ words: [String], _ format: Gzip.Format) -> [UInt8] {
        Gzip.compress(Array(words.joined(separator: " ").utf8), format: format) ?? []
    }

    /// A date as HTTP writes it (RFC 9110 §5.6.7).
    private static func date(_ seconds: Int64, _ form: String = "EEE, dd MMM yyyy HH:mm:ss 'GMT'") -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = form
        return formatter.string(from: Date(timeIntervalSince1970: Double(seconds)))
    }
}
