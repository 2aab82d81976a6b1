// The suites of the API run twice: as they are, and with sessions and servers that speak HTTP/2 to each other
// (`make test-http2`). A test that cannot pass over both says so, with the reason.

import Foundation
import Testing

/// The version of HTTP that sessions and servers speak in this run.
enum ProtocolUnderTest {
    /// Whether it is HTTP/2 unless a test says otherwise.
    static let isHTTP2 = ProcessInfo.processInfo.environment["URLLOADING_HTTP2"] == "prior-knowledge"

    /// The version's name in metrics.
    static var name: String { isHTTP2 ? "h2" : "http/1.1" }

    /// The name of a field, or a field, as it comes from the wire: HTTP/2 has its name in lower case.
    static func field(_ text: String) -> String {
        guard isHTTP2 else { return text }
        let name = text.prefix { $0 != ":" }
        return name.lowercased() + text.dropFirst(name.count)
    }
}

extension Trait where Self == ConditionTrait {
    /// A test that is about HTTP/1.1 only.
    static func http1Only(_ reason: Comment) -> Self { .disabled(if: ProtocolUnderTest.isHTTP2, reason) }
}
