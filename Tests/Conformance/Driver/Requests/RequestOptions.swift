// The value of `options`. A key that cannot be honoured refuses the command. Driver protocol, section 4.

import Foundation
import URLLoading
import URLLoadingTestSupport

/// The options of a request.
struct RequestOptions {
    let task: TaskWord
    let cachePolicy: URLRequest.CachePolicy
    /// In seconds; the session's if there is none.
    let timeout: TimeInterval?
    let isWithoutCookies: Bool
    /// The session's if there is none.
    let redirects: RedirectPolicy?
    let bodyPieces: [BodyPiece]?
    let cancelAfterMilliseconds: Int?
    let cancelAfterBytes: Int64?
    /// Whether a download goes on from there with what it has.
    let resumes: Bool
    let reportsChunks: Bool
    let mostBodyBytes: Int

    /// The keys that are honoured.
    static let keys = [
        "task", "cache_policy", "timeout_ms", "cookies", "redirects", "body_stream", "cancel_after_ms",
        "cancel_after_bytes", "resume", "report_chunks", "max_body_bytes",
    ]

    /// Reads the value of `options`.
    init(_ members: consuming Members) throws(Refusal) {
        var members = members
        task = try members.word("task", Self.tasks) ?? .data
        cachePolicy = try members.word("cache_policy", Self.cachePolicies) ?? .useProtocolCachePolicy
        timeout = try members.timeout("timeout_ms")
        isWithoutCookies = try members.bool("cookies").map { !$0 } ?? false
        redirects = try members.word("redirects", RedirectPolicy.words)
        bodyPieces = try Self.pieces(members.array("body_stream"))
        cancelAfterMilliseconds = try members.count("cancel_after_ms").map { Int(clamping: $0) }
        cancelAfterBytes = try members.count("cancel_after_bytes")
        resumes = try members.bool("resume") ?? false
        guard !resumes || task == .download && cancelAfterBytes != nil else {
            throw .badCommand("options: resume is for a download with cancel_after_bytes")
        }
        reportsChunks = try members.bool("report_chunks") ?? false
        let most = try members.count("max_body_bytes") ?? 16 << 20
        // A line of 64 MiB has no room for more.
        mostBodyBytes = Int(min(most, 47 << 20))
        try members.finish()
    }

    private static func pieces(_ elements: [JSONValue]?) throws(Refusal) -> [BodyPiece]? {
        guard let elements else { return nil }
        var pieces: [BodyPiece] = []
        for element in elements {
            var members = try Members(element, of: "body_stream")
            guard let bytes = try members.base64("base64") else { throw .badCommand("body_stream: base64 is missing") }
            let delay = try members.count("delay_ms") ?? 0
            try members.finish()
            pieces.append(BodyPiece(bytes: bytes, delayInMilliseconds: Int(clamping: delay)))
        }
        return pieces
    }

    private static let tasks: [String: TaskWord] = [
        "data": .data, "download": .download, "upload": .upload, "bytes": .bytes,
    ]

    private static let cachePolicies: [String: URLRequest.CachePolicy] = [
        "protocol": .useProtocolCachePolicy, "reload": .reloadIgnoringLocalCacheData,
        "cache_else_load": .returnCacheDataElseLoad, "cache_only": .returnCacheDataDontLoad,
        "revalidate": .reloadRevalidatingCacheData,
    ]
}

/// The kind of task that carries out a request.
enum TaskWord {
    case data
    /// A download task, whose file is read back.
    case download
    /// An upload task, with data or with a stream.
    case upload
    /// An asynchronous sequence.
    case bytes
}
