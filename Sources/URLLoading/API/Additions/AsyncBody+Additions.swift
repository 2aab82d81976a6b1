// Bodies of requests that are made while they are sent: by an asynchronous sequence, whose elements are asked for as
// fast as the server takes them.
//
// Ours; Apple has streams only. Must not know: how a body is sent (`SequenceSource` gives the bytes).

import Foundation
import URLLoadingPolicy
import URLLoadingWire

extension URLSession {
    /// Sends what a sequence gives as the request's body, while it is made, and loads the response; the request's own
    /// body is ignored. Ours.
    ///
    /// The sequence can be had once. Where the body is needed again, after a redirect that keeps it or a question about
    /// a password, the task's delegate is asked for a stream, and without one the load fails with
    /// `URLError.requestBodyStreamExhausted`. A `URLRequest.AsyncBody` can be had again, has a length, and trailers:
    /// `setAsyncBody(_:)` makes it the body of any request.
    @inlinable
    public func upload<Pieces: AsyncSequence & Sendable>(
        for request: URLRequest, from pieces: Pieces, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) where Pieces.Element: URLRequest.BodyElement {
        try await upload(request, withBody: URLRequest.AsyncBody(pieces), delegate)
    }

    @usableFromInline
    func upload(
        _ request: URLRequest, withBody body: URLRequest.AsyncBody, _ delegate: (any URLSessionTaskDelegate)?
    ) async throws -> (Data, URLResponse) {
        var request = request
        request.httpBodyStream = AsyncBodyStream(body)
        return try await upload(ofRequest: request, delegate: delegate)
    }
}

extension URLRequest {
    /// Makes what a sequence gives the body. A GET, which has no body, becomes a POST. This method is ours.
    ///
    /// ```swift
    /// var request = URLRequest(url: url)
    /// request.setAsyncBody(URLRequest.AsyncBody { rows.map { Data("\($0)\n".utf8) } })
    /// let (data, response) = try await session.data(for: request)
    /// ```
    ///
    /// With `bytes(for:)` the response can be read while the body is still being sent, over HTTP/1.1 and HTTP/2 alike.
    public mutating func setAsyncBody(_ body: AsyncBody) {
        httpBodyStream = AsyncBodyStream(body)
        if httpMethod == "GET" { httpMethod = "POST" }
    }

    /// What a body can be made of. Ours. `Data`, `[UInt8]` and single bytes are such elements; others can become one.
    public protocol BodyElement {
        /// Lends the element's bytes for the duration of the call.
        func withBodyBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R
    }

    /// A body that is made while it is sent. Ours.
    ///
    /// The sequence is asked for an element when the connection has taken those before, so that a slow server makes it
    /// wait. Elements that come without waiting are sent together, 64 KiB at a time; what has come is sent as soon as
    /// the next element has to be waited for. A sequence that throws ends the load with
    /// `URLError.requestBodyStreamExhausted`, and its error is the underlying one. A load that ends early cancels the
    /// Swift task in which the sequence is being read, and asks a sequence that no closure has made once more in it;
    /// what it gives then is dropped.
    public struct AsyncBody: Sendable {
        /// How long the body is, where that was said; nil sends it in chunks, or until its end over HTTP/2.
        public let contentLength: Int64?
        /// What is read, anew each time.
        let sequence: SequenceReading
        /// Whether it gives the same bytes each time.
        let isRenewable: Bool
        private(set) var trailers: Trailers?

        struct Trailers: Sendable {
            let names: [String]
            let make: @Sendable () async throws -> [String: String]
        }

        /// A body that can be had once, as what most sequences give.
        ///
        /// One that has fewer bytes than were announced ends the load with `URLError.requestBodyStreamExhausted`. One
        /// that has more ends it with `URLError.dataLengthExceedsMaximum` where the surplus comes together with what
        /// still belongs to the body: at the length nothing more is asked for.
        @inlinable
        public init<Pieces: AsyncSequence & Sendable>(_ pieces: Pieces, contentLength: Int64? = nil)
        where Pieces.Element: BodyElement {
            self.init(contentLength, isRenewable: false, SequenceReader { pieces }.read)
        }

        /// A body that can be had again: the closure makes a sequence for each sending, and each gives the same bytes.
        ///
        /// It is called anew after a redirect that keeps the body, a question about a password, the loss of a
        /// connection, and for each attempt of a `RetryPolicy`.
        @inlinable
        public init<Pieces: AsyncSequence>(
            contentLength: Int64? = nil, _ pieces: @escaping @Sendable () -> Pieces
        ) where Pieces.Element: BodyElement {
            self.init(contentLength, isRenewable: true, SequenceReader(pieces).read)
        }

        @usableFromInline
        init(_ length: Int64?, isRenewable: Bool, _ sequence: @escaping SequenceReading) {
            contentLength = length.map { max($0, 0) }
            self.isRenewable = isRenewable
            self.sequence = sequence
        }

        // MARK: Trailers

        /// Sends fields behind the body, whose values are known when it has been made: a checksum, a count.
        ///
        /// The names are announced in the field `Trailer`; the closure is called when the sequence has ended, and may
        /// leave some out. The body then is sent without its length, since HTTP/1.1 has trailers behind chunks only.
        /// Throws where a name cannot stand there: fields about the message's length, its way or its sender, and about
        /// what comes before (RFC 9110 §6.5.1).
        public mutating func setTrailers(
            named names: [String], _ make: @escaping @Sendable () async throws -> [String: String]
        ) throws(TrailerError) {
            for name in names where !RequestFieldRules.isTrailer(name) {
                throw TrailerError(name: name, problem: .notAllowed)
            }
            trailers = names.isEmpty ? nil : Trailers(names: names, make: make)
        }

        /// Why a field cannot be sent behind a body.
        public struct TrailerError: Error, Sendable, Hashable {
            /// What is wrong with it.
            public enum Problem: Sendable, Hashable {
                /// The name is none, or the field has to stand before the body.
                case notAllowed
                /// The closure has given a field whose name was not announced.
                case notAnnounced
                /// The value has a line end or another control character.
                case malformedValue
            }

            /// The field's name.
            public let name: String
            /// What is wrong with it.
            public let problem: Problem

            /// Makes an error.
            public init(name: String, problem: Problem) {
                self.name = name
                self.problem = problem
            }
        }
    }
}

extension URLRequest.AsyncBody.TrailerError: LocalizedError {
    /// A sentence for a person.
    public var errorDescription: String? {
        switch problem {
        case .notAllowed: "The field \"\(name)\" cannot be sent behind a body."
        case .notAnnounced: "The field \"\(name)\" was not among the names of the body's trailers."
        case .malformedValue: "The value of the trailer \"\(name)\" cannot be sent."
        }
    }
}

extension Data: URLRequest.BodyElement {
    /// Lends the bytes.
    @inlinable
    public func withBodyBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try withUnsafeBytes(body)
    }
}

extension Array: URLRequest.BodyElement where Element == UInt8 {
    /// Lends the bytes.
    @inlinable
    public func withBodyBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try withUnsafeBytes(body)
    }
}

extension UInt8: URLRequest.BodyElement {
    /// Lends the byte.
    @inlinable
    public func withBodyBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try withUnsafeBytes(of: self, body)
    }
}
