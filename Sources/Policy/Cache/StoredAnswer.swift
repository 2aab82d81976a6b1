// What a cache remembers of an exchange besides the body: the answer's status and fields, when it was asked for and
// when it came, and what of the request it depends on. It must not know where that is kept. RFC 9111 §3.

import URLLoadingWire

/// The head of a stored answer and the circumstances under which it came.
package struct StoredAnswer: Sendable, Equatable {
    /// The status, as it is delivered again.
    package var status: Int
    /// The fields, without those of the connection they came over (B7.51).
    package var fields: Fields
    /// When the request was sent.
    package var requestTime: WallTime
    /// When the answer came.
    package var responseTime: WallTime
    /// What of the request the answer depends on.
    package var selection: Selection
    /// How its server was trusted.
    package var trust: AnswerTrust

    /// Makes one of its parts.
    package init(
        status: Int, fields: Fields, requestTime: WallTime, responseTime: WallTime, selection: Selection,
        trust: AnswerTrust = .plain
    ) {
        self.status = status
        self.fields = fields
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.selection = selection
        self.trust = trust
    }

    /// How many bytes fields and selection have: what a server and a request can make as long as they like.
    package var byteCount: Int { fields.byteCount + selection.byteCount }
}
