// The `result` of a request. Driver protocol, section 4.

import Foundation
import URLLoading
import URLLoadingTestSupport

extension TransferRecord {
    /// The record as the protocol shows it. What the package's API does not show is left out: the HTTP version of a
    /// response.
    var result: JSONValue {
        var members: [JSONMember] = [
            JSONMember(name: "response", value: response.map(Self.describe) ?? .null),
            JSONMember(name: "body_base64", value: .base64(body)),
            JSONMember(name: "body_length", value: .integer(bodyLength)),
            JSONMember(name: "body_sha256", value: .string(bodyHash)),
            JSONMember(name: "error", value: error.map(\.json) ?? .null),
            JSONMember(name: "redirects", value: .array(redirects.map(Self.describe))),
            JSONMember(name: "challenges", value: .array(challenges.map(Self.describe))),
            JSONMember(name: "informational", value: .array(informational.map(Self.describeHead))),
            JSONMember(name: "trailers", value: Self.trailers(of: response)),
            JSONMember(name: "metrics", value: metrics.map(\.json) ?? .null),
        ]
        if let chunks {
            let pairs = chunks.map { JSONValue.array([.integer($0.milliseconds), .count($0.length)]) }
            members.append(JSONMember(name: "chunks", value: .array(pairs)))
        }
        return .object(members)
    }

    static func describe(_ response: URLResponse) -> JSONValue {
        let head = response as? HTTPURLResponse
        return [
            "url": .text(response.url?.absoluteString),
            "status": head.map { .count($0.statusCode) } ?? .null,
            "headers": fields(head),
            "mime_type": .text(response.mimeType),
            "text_encoding": .text(response.textEncodingName),
            "suggested_filename": .text(response.suggestedFilename),
            "expected_length": .integer(response.expectedContentLength),
        ]
    }

    private static func describeHead(_ response: HTTPURLResponse) -> JSONValue {
        ["status": .count(response.statusCode), "headers": fields(response)]
    }

    private static func describe(_ redirect: Redirect) -> JSONValue {
        [
            "status": .count(redirect.status), "from": .text(redirect.from?.absoluteString),
            "to": .text(redirect.to?.absoluteString),
        ]
    }

    private static func describe(_ challenge: Challenge) -> JSONValue {
        [
            "method": .string(challenge.method), "host": .string(challenge.host), "port": .count(challenge.port),
            "realm": .text(challenge.realm), "proxy": .bool(challenge.isProxy),
            "previous_failures": .count(challenge.previousFailures),
        ]
    }

    /// One pair per member of the API's dictionary, sorted since a dictionary has no order.
    private static func fields(_ response: HTTPURLResponse?) -> JSONValue {
        pairs((response?.allHeaderFields ?? [:]).map { ("\($0.key.base)", "\($0.value)") })
    }

    private static func trailers(of response: URLResponse?) -> JSONValue {
        pairs(((response as? HTTPURLResponse)?.trailerFields ?? [:]).map { ($0.key, $0.value) })
    }

    private static func pairs(_ fields: [(String, String)]) -> JSONValue {
        .array(fields.sorted { $0 < $1 }.map { [.string($0.0), .string($0.1)] })
    }
}

extension TransferError {
    var json: JSONValue {
        ["domain": .string(domain), "code": .count(code), "name": .string(name), "detail": .string(detail)]
    }
}
