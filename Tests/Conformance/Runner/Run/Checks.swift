// Compares what came with what a line expects.
//
// Must not know: drivers and servers.

import Foundation
import URLLoadingTestSupport

/// Comparisons, each of which throws where something is not as expected.
enum Checks {
    /// The end of a request.
    static func result(_ result: JSONValue, is line: ResultLine, _ words: KnownWords) throws {
        let response = result["response"] ?? .null
        let error = result["error"] ?? .null
        switch line.end {
        case .status(let status):
            guard error == .null else { throw CaseFailure("expected status \(status), got error \(describe(error))") }
            try equal(response["status"], .integer(Int64(status)), "the status")
        case .error(let name, let status):
            guard error["name"] == .string(name) else {
                let got = error == .null ? "status \(describe(response["status"]))" : "error \(describe(error))"
                throw CaseFailure("expected error \(name), got \(got)")
            }
            let expected = status.map { JSONValue.integer(Int64($0)) }
            guard (response["status"] ?? .null) == (expected ?? .null) else {
                throw CaseFailure("the response before the error has status \(describe(response["status"]))")
            }
        }
        try fields(line.fields, words) { name in values(of: name, in: response["headers"]) }
        guard let body = line.body else { return }
        guard case .string(let text)? = result["body_base64"], let data = Data(base64Encoded: text) else {
            throw CaseFailure("the result has no body")
        }
        try bytes(Array(data), try words.bytes(body), "the body")
    }

    /// A member of a result, at a path of names and numbers.
    static func member(_ path: String, of result: JSONValue, is test: MemberTest, _ words: KnownWords) throws {
        var value: JSONValue? = result
        for name in path.split(separator: ".") {
            if case .array(let elements)? = value, let index = Int(name) {
                value = elements.indices.contains(index) ? elements[index] : nil
            } else if case .array(let pairs)? = value {
                value = values(of: String(name), in: .array(pairs)).first.map(JSONValue.string)
            } else {
                value = value?[String(name)]
            }
        }
        switch test {
        case .equals(let expected): try equal(value, try words.json(expected), path)
        case .absent:
            guard value == nil || value == .null else { throw CaseFailure("\(path) is \(describe(value))") }
        case .count(let count):
            guard case .array(let elements)? = value else { throw CaseFailure("\(path) is no list") }
            guard elements.count == count else {
                throw CaseFailure("\(path) has \(elements.count) elements: \(describe(value))")
            }
        case .contains(let text):
            guard case .string(let string)? = value, string.contains(text) else {
                throw CaseFailure("\(path) does not contain \"\(text)\": \(describe(value))")
            }
        }
    }

    /// A request that a server has received.
    static func received(_ received: AnswerBoard.Received?, is line: ReceivedLine, _ words: KnownWords) throws {
        let target = try words.text(line.target)
        guard let received else { throw CaseFailure("\(line.method) \(target) was not received") }
        let request = received.request
        guard request.method == line.method, request.target == target else {
            throw CaseFailure("received \(request.method) \(request.target), not \(line.method) \(target)")
        }
        if let server = line.server, server != received.server {
            throw CaseFailure("\(received.server) received it, not \(server)")
        }
        try fields(line.fields, words) { request.fields.values(.init($0)) }
        if let body = line.body { try bytes(request.body, try words.bytes(body), "the request's body") }
    }

    /// Fields by their names; several of one name are joined, and `*` is any value.
    static func fields(_ parts: [CaseLine.Part], _ words: KnownWords, _ values: (String) -> [String]) throws {
        for part in parts {
            let found = values(part.name)
            guard let value = part.value else {
                if !found.isEmpty { throw CaseFailure("\(part.name) is there: \(found.joined(separator: ", "))") }
                continue
            }
            guard !found.isEmpty else { throw CaseFailure("\(part.name) is missing") }
            let expected = try words.text(value)
            let joined = found.joined(separator: ", ")
            guard expected == "*" || joined == expected else {
                throw CaseFailure("\(part.name) is \"\(joined)\", not \"\(expected)\"")
            }
        }
    }

    private static func values(of name: String, in list: JSONValue?) -> [String] {
        guard case .array(let pairs)? = list else { return [] }
        return pairs.compactMap { pair in
            guard case .array(let elements) = pair, elements.count == 2, case .string(let field) = elements[0],
                case .string(let value) = elements[1], field.lowercased() == name.lowercased()
            else { return nil }
            return value
        }
    }

    private static func equal(_ value: JSONValue?, _ expected: JSONValue, _ what: String) throws {
        guard (value ?? .null) == expected else {
            throw CaseFailure("\(what) is \(describe(value)), not \(describe(expected))")
        }
    }

    private static func bytes(_ bytes: [UInt8], _ expected: [UInt8], _ what: String) throws {
        guard bytes != expected else { return }
        throw CaseFailure("\(what) is \(quoted(bytes)), not \(quoted(expected))")
    }

    private static func quoted(_ bytes: [UInt8]) -> String {
        let text = String(decoding: bytes.prefix(200), as: UTF8.self)
        return text.debugDescription + (bytes.count > 200 ? "… (\(bytes.count) bytes)" : "")
    }

    /// Text without its marks, anything else as JSON.
    static func plain(_ value: JSONValue?) -> String {
        if case .string(let text)? = value { text } else { describe(value) }
    }

    static func describe(_ value: JSONValue?) -> String {
        guard let value else { return "absent" }
        let text = String(decoding: JSONWriter.line(value), as: UTF8.self)
        return text.count > 400 ? text.prefix(400) + "…" : text
    }
}
