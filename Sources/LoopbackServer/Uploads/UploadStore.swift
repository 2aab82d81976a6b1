// The server's side of resumable uploads (draft-ietf-httpbis-resumable-upload, interop version 8): creates
// upload resources, takes what comes for them, and cuts connections where it is told to. Content is hashed
// and counted, never kept.
//
// It decides everything from heads and bytes; the connection writes and cuts. Must not know: URLSession, sockets.

import Synchronization
import URLLoadingWire

/// Upload resources of one server.
package final class UploadStore: Sendable {
    /// How the store behaves.
    package struct Settings: Sendable {
        /// What stands in `Upload-Limit`; nil for no such field.
        package var limit: String?
        /// The version that the store says it speaks.
        package var version = "8"
        /// Where, counted in bytes of each upload, a connection is cut: each place once, in ascending order.
        package var cuts: [Int64] = []
        /// Whether the connection is cut in place of the first final answer.
        package var losesFirstAnswer = false
        /// Statuses with which the first requests of these methods are answered, one after the other.
        package var refusals: [String: [Int]] = [:]
        /// The `Location` of a new resource, made of its path.
        package var location: @Sendable (String) -> String = { $0 }
        /// Whether progress is told in further informational answers, after so many bytes each.
        package var tellsOffsetEvery: Int64?
        /// The final answer.
        package var answer: @Sendable (Summary) -> ServerResponse = { .text("\($0.byteCount) \($0.hash)") }

        /// A store that takes everything.
        package init() {}
    }

    /// An upload that is complete.
    package struct Summary: Sendable, Equatable {
        /// How long it is.
        package let byteCount: Int64
        /// The SHA-256 of its bytes, in hexadecimal digits.
        package let hash: String
        /// How many bytes came in all requests together.
        package let bytesReceived: Int64
    }

    // Safe to share: the hash in it is only touched under the store's one lock.
    private struct Upload: @unchecked Sendable {
        let digest = ContentDigest()
        var offset: Int64 = 0
        var isComplete = false
        /// The request at work on it; an older one is not listened to any more.
        var source: RequestSource?
    }

    private struct State: Sendable {
        var uploads: [String: Upload] = [:]
        /// How many there have been, those included that were deleted.
        var created = 0
        var transfers: [RequestSource: Transfer] = [:]
        var cuts: [Int64]
        var refusals: [String: [Int]]
        var losesAnswer: Bool
        var log: [String] = []
        var bytesReceived: Int64 = 0
        var cutCount = 0
        var summaries: [Summary] = []
    }

    /// What comes in one request.
    private struct Transfer: Sendable {
        let path: String
        let completes: Bool
        var told: Int64
        var response: ServerResponse?
    }

    /// What the connection does with a head.
    enum Beginning {
        /// It is not the store's.
        case none
        /// The body is the store's; these informational answers go out at once.
        case taken([ResponseHead])
    }

    /// What the connection does with a piece of the body.
    enum Reception {
        case more
        case tell(ResponseHead)
        case cut
    }

    private let settings: Settings
    private let state: Mutex<State>

    /// An empty store.
    package init(_ settings: Settings = Settings()) {
        self.settings = settings
        state = Mutex(
            State(cuts: settings.cuts, refusals: settings.refusals, losesAnswer: settings.losesFirstAnswer))
    }

    // MARK: What tests look at

    /// The requests of the protocol, in order, each with what it said: `PATCH 100 ?1`.
    package var log: [String] { state.withLock { $0.log } }
    /// Bytes of bodies that came, those that came twice twice.
    package var bytesReceived: Int64 { state.withLock { $0.bytesReceived } }
    /// How many connections were cut.
    package var cutCount: Int { state.withLock { $0.cutCount } }
    /// The uploads that have become complete.
    package var summaries: [Summary] { state.withLock { $0.summaries } }
    /// How many upload resources there are.
    package var count: Int { state.withLock { $0.uploads.count } }

    // MARK: What the connection calls

    func begin(_ head: RequestHead, on source: RequestSource) -> Beginning {
        let isOurs = head.target.hasPrefix("/uploads/")
        let complete = head.fields.structuredItem("Upload-Complete")?.value
        guard isOurs || complete != nil else { return .none }
        return state.withLock { state in
            let said = ["Upload-Offset", "Upload-Complete"].compactMap { head.fields.first(FieldName($0)) }
            state.log.append(([head.method] + said).joined(separator: " "))
            let completes = complete == .boolean(true)
            if let refusal = state.refusals[head.method]?.first {
                state.refusals[head.method]?.removeFirst()
                var response = ServerResponse.status(refusal)
                if refusal == 401 { response = response.adding("WWW-Authenticate", "Basic realm=\"uploads\"") }
                state.transfers[source] = Transfer(path: "", completes: false, told: 0, response: response)
                return .taken([])
            }
            return isOurs
                ? resume(head, completes: completes, on: source, &state)
                : create(completes: completes, on: source, &state)
        }
    }

    private func create(completes: Bool, on source: RequestSource, _ state: inout State) -> Beginning {
        state.created += 1
        let path = "/uploads/\(state.created)"
        var upload = Upload()
        upload.source = source
        state.uploads[path] = upload
        state.transfers[source] = Transfer(path: path, completes: completes, told: 0)
        var fields = Fields()
        fields.append("Upload-Draft-Interop-Version", settings.version)
        fields.append("Location", settings.location(path))
        if let limit = settings.limit { fields.append("Upload-Limit", limit) }
        return .taken([ResponseHead(status: 104, fields: fields)])
    }

    private func resume(
        _ head: RequestHead, completes: Bool, on source: RequestSource, _ state: inout State
    ) -> Beginning {
        let path = head.target
        guard let upload = state.uploads[path] else {
            state.transfers[source] = Transfer(path: path, completes: false, told: 0, response: .status(404))
            return .taken([])
        }
        var response: ServerResponse?
        switch head.method {
        case "HEAD":
            response = report(upload, status: 204)
        case "DELETE":
            state.uploads[path] = nil
            response = ServerResponse(status: 204, body: .none)
        case "PATCH":
            let offset = head.fields.structuredItem("Upload-Offset")?.value
            if upload.isComplete {
                response = report(upload, status: 400)
            } else if head.fields.first("Content-Type") != "application/partial-upload" {
                response = .status(415)
            } else if offset != .integer(upload.offset) {
                response = report(upload, status: 409)
            }
        default:
            response = .status(405)
        }
        state.uploads[path]?.source = source
        state.transfers[source] = Transfer(
            path: path, completes: completes, told: upload.offset, response: response)
        return .taken([])
    }

    private func report(_ upload: Upload, status: Int) -> ServerResponse {
        var response = ServerResponse(status: status, body: status == 204 ? .none : .bytes([]))
            .adding("Upload-Draft-Interop-Version", settings.version)
            .adding("Upload-Offset", "\(upload.offset)")
            .adding("Upload-Complete", upload.isComplete ? "?1" : "?0")
            .adding("Cache-Control", "no-store")
        if let limit = settings.limit { response = response.adding("Upload-Limit", limit) }
        return response
    }

    func receive(_ bytes: UnsafeRawBufferPointer, on source: RequestSource) -> Reception {
        state.withLock { state in
            state.bytesReceived += Int64(bytes.count)
            guard var transfer = state.transfers[source], transfer.response == nil,
                var upload = state.uploads[transfer.path], upload.source == source
            else { return .more }
            var taken = bytes
            let cut = state.cuts.first.flatMap { $0 <= upload.offset + Int64(bytes.count) ? $0 : nil }
            if let cut {
                taken = UnsafeRawBufferPointer(rebasing: bytes.prefix(Int(max(cut - upload.offset, 0))))
                state.cuts.removeFirst()
                state.cutCount += 1
                state.transfers[source] = nil
            }
            upload.digest.update(taken)
            upload.offset += Int64(taken.count)
            state.uploads[transfer.path] = upload
            if cut != nil { return .cut }
            guard let step = settings.tellsOffsetEvery, upload.offset - transfer.told >= step else { return .more }
            transfer.told = upload.offset
            state.transfers[source] = transfer
            var fields = Fields()
            fields.append("Upload-Draft-Interop-Version", settings.version)
            fields.append("Upload-Offset", "\(upload.offset)")
            return .tell(ResponseHead(status: 104, fields: fields))
        }
    }

    /// The request is whole; nil where the connection is to be cut in place of an answer.
    func finish(on source: RequestSource) -> ServerResponse? {
        state.withLock { state in
            guard let transfer = state.transfers.removeValue(forKey: source) else { return .status(500) }
            if let response = transfer.response { return response }
            guard var upload = state.uploads[transfer.path], upload.source == source else {
                return .status(409)
            }
            guard transfer.completes else {
                return ServerResponse(status: 204, body: .none).adding("Upload-Complete", "?0")
                    .adding("Upload-Offset", "\(upload.offset)")
            }
            if !upload.isComplete {
                upload.isComplete = true
                state.uploads[transfer.path] = upload
                state.summaries.append(
                    Summary(
                        byteCount: upload.offset, hash: upload.digest.text, bytesReceived: state.bytesReceived))
            }
            if state.losesAnswer {
                state.losesAnswer = false
                state.cutCount += 1
                return nil
            }
            guard let summary = state.summaries.last else { return .status(500) }
            return settings.answer(summary).adding("Upload-Complete", "?1")
        }
    }
}
