// What the package told about a request.

import Foundation
import URLLoading

/// Everything that happened in a transfer.
struct TransferRecord: Sendable {
    /// A redirect that was followed.
    struct Redirect: Sendable {
        let status: Int
        let from: URL?
        let to: URL?
    }

    /// A question for a password.
    struct Challenge: Sendable {
        let method: String
        let host: String
        let port: Int
        let realm: String?
        let isProxy: Bool
        let previousFailures: Int

        init(_ challenge: URLAuthenticationChallenge) {
            let space = challenge.protectionSpace
            method = space.authenticationMethod
            host = space.host
            port = space.port
            realm = space.realm
            isProxy = space.isProxy()
            previousFailures = challenge.previousFailureCount
        }
    }

    /// One delivery of a part of the body.
    struct Chunk: Sendable {
        let milliseconds: Int64
        var length: Int
    }

    private let mostBodyBytes: Int
    private let keepsChunks: Bool
    var response: URLResponse?
    var error: TransferError?
    var redirects: [Redirect] = []
    var challenges: [Challenge] = []
    var informational: [HTTPURLResponse] = []
    var metrics: URLSessionTaskMetrics?
    private(set) var body = Data()
    private(set) var bodyLength: Int64 = 0
    private(set) var chunks: [Chunk]?
    private var hash = SHA256()

    init(mostBodyBytes: Int, keepsChunks: Bool) {
        self.mostBodyBytes = mostBodyBytes
        self.keepsChunks = keepsChunks
        chunks = keepsChunks ? [] : nil
    }

    var bodyHash: String { hash.hexDigest() }

    /// A part of the body was delivered. What is beyond the limit is counted and hashed only.
    mutating func add(_ data: Data) {
        body.append(data.prefix(max(mostBodyBytes - body.count, 0)))
        bodyLength += Int64(data.count)
        hash.update(data)
    }

    /// A part of the body of this length was delivered at this time.
    mutating func addChunk(_ length: Int, at milliseconds: Int64) {
        guard let count = chunks?.count else { return }
        if count < Self.mostChunks {
            chunks?.append(Chunk(milliseconds: milliseconds, length: length))
        } else {
            chunks?[count - 1].length += length
        }
    }

    /// Keeps the answer within a line when a server sends millions of single bytes: later ones join the last chunk.
    private static let mostChunks = 500_000
}
