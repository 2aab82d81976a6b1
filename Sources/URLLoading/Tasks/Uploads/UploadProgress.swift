// What a task knows of its resumable upload, behind the one Mutex of its `TaskCore`; and what a hop
// of it is to its receiver.
//
// Must not know: how a request is sent, what a delegate hears.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

/// An upload that a server may let go on after a loss.
struct UploadProgress: Sendable {
    var machine: ResumableUploadMachine
    /// What the program wants to be sent: the requests that ask and go on take its place for their time only.
    let request: URLRequest
    let body: TaskBody
    /// Keeps other tasks from the same upload resource (B11.38).
    var claim: UploadClaim?
    /// Where the part begins that is being sent.
    var base: Int64 = 0
    /// The answer to the exchange under way, once its head has come.
    var answer: ResponseHead?
    /// The exchange was broken off because of what the server has said about the upload.
    var isBroken = false
    /// What stopped the last exchange.
    var lastError: URLError?
    /// Whether there is nothing left to go on with.
    var isLost = false
    /// Whether the request under way is one of the upload's own, which is not shown (B11.34).
    var isHelper = false

    init(machine: ResumableUploadMachine, request: URLRequest, body: TaskBody) {
        self.machine = machine
        self.request = request
        self.body = body
    }

    /// The request for the upload resource; nil where its URL is none for Foundation.
    private func helper(_ method: String) -> URLRequest? {
        guard let url = machine.resource.flatMap({ URL(string: $0) }) else { return nil }
        var values = request.values
        values.url = url
        values.setMethod(method)
        values.body = .none
        values.cachePolicy = .reloadIgnoringLocalCacheData
        values.fields.keep { UploadFields.isKept($0) }
        values.fields.set("\(UploadFields.interopVersion)", for: UploadFields.version.spelling)
        return URLRequest(values)
    }

    /// What carries out a step of the machine; nil where the step is no request.
    func exchange(for step: ResumableUploadMachine.Step) -> (request: URLRequest, part: UploadPart, base: Int64)? {
        switch step {
        case .query: return helper("HEAD").map { ($0, .nothing, base) }
        case .remove: return helper("DELETE").map { ($0, .nothing, base) }
        case .append(let offset, let count, let completes):
            guard var request = helper("PATCH"), let part = part(from: offset, count: count) else { return nil }
            request.setValue("\(offset)", forHTTPHeaderField: UploadFields.offset.spelling)
            request.setValue(completes ? "?1" : "?0", forHTTPHeaderField: UploadFields.complete.spelling)
            request.setValue(UploadFields.partialType, forHTTPHeaderField: "Content-Type")
            // B5.28: what a stream holds is known from what the program has announced.
            if case .stream = part, let count { request.setValue("\(count)", forHTTPHeaderField: "Content-Length") }
            return (request, part, offset)
        case .deliver, .fail: return nil
        }
    }

    private func part(from offset: Int64, count: Int64?) -> UploadPart? {
        switch body {
        case .opened(let file, _):
            return .section(file, from: offset, count: count ?? file.byteCount - offset)
        case .data(let data):
            guard let start = Int(exactly: offset), start <= data.count else { return nil }
            let count = count.flatMap { Int(exactly: $0) } ?? data.count - start
            return .bytes(data.dropFirst(start).prefix(count))
        case .delegate: return .stream(offset: offset)
        case .request, .file, .part, .resuming: return nil
        }
    }
}

/// What one request of an upload sends of the body.
enum UploadPart: Sendable {
    case nothing
    case section(OpenFile, from: Int64, count: Int64)
    case bytes(Data)
    /// A stream that begins at an offset, for which a delegate is asked (B11.30).
    case stream(offset: Int64)
}

/// What a receiver has to know about a hop of an upload.
final class UploadHop: Sendable {
    /// The program's own request.
    let request: URLRequest
    /// Whether the hop is one of the upload's own, which is not shown.
    let isHelper: Bool
    /// Where its part of the body begins.
    let base: Int64

    init(_ progress: UploadProgress) {
        request = progress.request
        isHelper = progress.isHelper
        base = progress.base
    }

    /// What a redirect starts from: the program's request, with references that belong to where the answer came from.
    func redirectable(at url: URL?) -> URLRequest {
        var values = request.values
        values.url = url
        return URLRequest(values)
    }
}

extension TaskState {
    /// The upload's part in the hop that begins.
    var uploadHop: UploadHop? { upload.map { UploadHop($0) } }

    /// The request of the task as its program knows it.
    var ownRequest: URLRequest? {
        guard let upload, upload.isHelper else { return currentRequest }
        return upload.request
    }

    /// Where the stream has to begin for which a delegate is asked; nil for the beginning.
    var streamOffset: Int64? {
        if case .part(.stream(let offset)) = body, offset > 0 { offset } else { nil }
    }

    /// Lets others have the upload resource; the claim ends with the value that is given back, outside of any lock.
    mutating func takeClaim() -> UploadClaim? {
        upload?.claim.take()
    }

    /// Lets go of what only a task under way needs: the body that was given with it, which may be an open file or much
    /// memory, and what was known about going on. It is the caller's, and ends when the lock is free.
    mutating func takeUploaded() -> UploadLeft {
        let isHidden = upload?.isHelper ?? false
        defer {
            // B11.34.
            if isHidden { (currentRequest, sentFields) = (ownRequest, nil) }
            (body, upload) = (.request, nil)
        }
        return UploadLeft(body: body, progress: upload, helper: isHidden ? currentRequest : nil)
    }

    /// What an upload that has ended had held.
    struct UploadLeft: Sendable {
        fileprivate let body: TaskBody
        fileprivate let progress: UploadProgress?
        fileprivate let helper: URLRequest?
    }

    /// What follows a hop of an upload; nil where the hop is like any other.
    mutating func uploadStep(
        after failure: EngineError?, error: URLError?, sent: Int64
    ) -> ResumableUploadMachine.Step? {
        guard var progress = upload, !(isAuthenticating && authentication.goesAgain) else { return nil }
        defer { upload = progress }
        let step: ResumableUploadMachine.Step?
        if let failure {
            // Another way to the server is tried first.
            if reroutable != nil, !failure.isLoss { return nil }
            guard failure.isInterruption || progress.machine.isRemoving else { return nil }
            // What breaks off is the answer, not the upload.
            if let answer = progress.answer, progress.machine.isAnswer(answer) { return nil }
            step = progress.machine.lost(sent: sent)
            if step != nil { progress.lastError = error }
        } else if progress.isBroken {
            step = progress.machine.lost(sent: sent)
        } else if progress.isHelper, let answer = progress.answer, !progress.machine.isAnswer(answer) {
            step = progress.machine.answered(answer, sent: sent)
        } else {
            step = nil
        }
        guard let step, step != .deliver else {
            // What is left is the program's own affair: an answer, a redirect.
            if failure == nil, progress.isHelper {
                currentRequest = progress.request
                body = progress.body
                progress.isHelper = false
            }
            return nil
        }
        return step
    }

    /// Puts a request of the upload's own in the place of the program's; nil where none can be made.
    mutating func begin(_ step: ResumableUploadMachine.Step) -> (URLRequest, TaskBody)? {
        guard var progress = upload, let exchange = progress.exchange(for: step) else { return nil }
        progress.isHelper = true
        progress.answer = nil
        progress.isBroken = false
        progress.base = exchange.base
        upload = progress
        currentRequest = exchange.request
        body = .part(exchange.part)
        sentFields = nil
        spend(cachePart.take())
        redirect.deliversBody = nil
        if case .append = step { sentTold = exchange.base }
        return (exchange.request, body)
    }
}
