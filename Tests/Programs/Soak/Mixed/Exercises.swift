// What the load does, one exercise after the other: each makes one request or a few that belong together, and has every
// ending judged.

import Foundation
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

/// One of the things that the load does.
enum Exercise: String, CaseIterable {
    case get, head, post, streamedPost = "streamed post", fileUpload = "file upload", redirect, cookies, password
    case cancel, timeout, slowReader = "slow reader", download, resume, shortSession = "short session"
    case answerAhead = "answer ahead", stranger, brokenOff = "broken off", fallBack = "fall back"

    /// How often each comes up, compared with the others.
    var weight: Int {
        switch self {
        case .get: 40
        case .head: 4
        case .post: 10
        case .streamedPost, .fileUpload, .brokenOff: 3
        case .redirect, .cookies, .password: 4
        case .cancel: 12
        case .timeout, .fallBack: 1
        case .slowReader: 3
        case .download: 6
        case .resume: 3
        case .shortSession, .answerAhead, .stranger: 2
        }
    }

    /// The exercises that have a meaning on a lane. Where changed bytes cannot be noticed, only those that tell
    /// right from wrong in spite of them: one request without framing inside its body, and an answer that can be
    /// looked for in what was delivered.
    static func choices(on kind: Lane.Kind, over spoken: LaneProtocol) -> [Exercise] {
        if kind == .dirty { return [.get] }
        return allCases.filter { $0 != .fallBack || spoken == .http2 }
    }
}

extension Lane {
    func carryOut(_ exercise: Exercise, number: Int, _ random: inout SeededRandom) async throws {
        let name = exercise.rawValue
        switch exercise {
        case .get: try await get(name, number, &random)
        case .head: try await head(name, number, &random)
        case .post: try await post(name, number, &random)
        case .streamedPost: try await streamedPost(name, number, &random)
        case .fileUpload: try await fileUpload(name, number, &random)
        case .redirect:
            let length = Self.length(&random)
            let hops = Int.random(in: 1...5, using: &random)
            try await load(
                "/redirect/\(hops)/\(number)/\(length)", name, SoakBody.bytes(number, length: length), &random)
        case .cookies: try await cookies(name, number, &random)
        case .password:
            let before = ContinuousClock.now
            let ending = await load(try request("/auth/\(number)"), name, as: .delegate)
            judge(ending, name, .init(body: Array("welcome \(number)".utf8)), since: before)
        case .cancel: try await cancel(name, number, &random)
        case .timeout: try await timeout(name)
        case .slowReader: try await slowReader(name, number, &random)
        case .download:
            let length = Self.length(&random) * 4
            let forms: [Form] = [.downloadHandler, .downloadDelegate, .downloadAsynchronous]
            let form = forms.randomElement(using: &random) ?? .downloadHandler
            try await load("/body/\(number)/\(length)", name, SoakBody.bytes(number, length: length), as: form)
        case .resume: try await resume(name, number, &random)
        case .shortSession: try await shortSession(name, number, &random)
        case .answerAhead: try await answerAhead(name, number, &random)
        case .stranger: try await stranger(name)
        case .brokenOff: try await brokenOff(name, number, &random)
        case .fallBack: try await fallBack(name, number)
        }
    }

    // MARK: One request

    /// Gets a place whose body is known.
    @discardableResult
    private func load(_ place: String, _ what: String, _ body: [UInt8], as form: Form) async throws -> Bool {
        let before = ContinuousClock.now
        let ending = await load(try request(place), what, as: form)
        return judge(ending, what, .init(body: body), since: before)
    }

    @discardableResult
    private func load(
        _ place: String, _ what: String, _ body: [UInt8], _ random: inout SeededRandom
    ) async throws -> Bool {
        try await load(place, what, body, as: Form.allCases.randomElement(using: &random) ?? .handler)
    }

    private func get(_ what: String, _ number: Int, _ random: inout SeededRandom) async throws {
        let length = Self.length(&random)
        let ways = ["", "", "", "chunked", "pieces", "gzip", "deflate", "gzip,chunked", "close", "hint"]
        let way = kind == .dirty ? "" : ways.randomElement(using: &random) ?? ""
        try await load("/body/\(number)/\(length)?\(way)", what, SoakBody.bytes(number, length: length), &random)
    }

    private func head(_ what: String, _ number: Int, _ random: inout SeededRandom) async throws {
        let length = Self.length(&random)
        var request = try request("/body/\(number)/\(length)")
        request.httpMethod = "HEAD"
        let before = ContinuousClock.now
        var ending = await load(
            request, what, as: [.handler, .delegate, .asynchronous].randomElement(using: &random) ?? .handler)
        if ending.error == nil { ending.body.append(contentsOf: "\(ending.response?.expectedContentLength ?? 0)".utf8) }
        judge(ending, what, .init(body: Array("\(length)".utf8)), since: before)
    }

    private func post(_ what: String, _ number: Int, _ random: inout SeededRandom) async throws {
        let body = SoakBody.bytes(number, length: Self.length(&random))
        let isEcho = random.chance(50)
        var request = try request(isEcho ? "/echo" : "/hash")
        request.httpMethod = random.chance(50) ? "POST" : "PUT"
        let isUpload = random.chance(50)
        if !isUpload { request.httpBody = Data(body) }
        let form = [Form.handler, .delegate, .asynchronous].randomElement(using: &random) ?? .handler
        let before = ContinuousClock.now
        let ending = await load(request, what, as: form, upload: isUpload ? Data(body) : nil)
        judge(ending, what, .init(body: isEcho ? body : Self.receipt(body)), since: before)
    }

    private func streamedPost(_ what: String, _ number: Int, _ random: inout SeededRandom) async throws {
        let body = SoakBody.bytes(number, length: Self.length(&random))
        var request = try request("/hash")
        request.httpMethod = "POST"
        let (isFed, seed) = (random.chance(50), random.next())
        // Another stream of the same bytes, for a server that has not looked at the first.
        let stream: @Sendable () -> InputStream? = {
            var random = SeededRandom(seed: seed)
            return isFed ? FedStream.of(body, &random) : InputStream(data: Data(body))
        }
        request.httpBodyStream = stream()
        let form = [Form.handler, .delegate, .asynchronous].randomElement(using: &random) ?? .handler
        let before = ContinuousClock.now
        let ending = await load(request, what, as: form, newBody: stream)
        judge(ending, what, .init(body: Self.receipt(body)), since: before)
    }

    private func fileUpload(_ what: String, _ number: Int, _ random: inout SeededRandom) async throws {
        let body = SoakBody.bytes(number, length: Self.length(&random))
        var request = try request("/hash")
        request.httpMethod = "PUT"
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("soak-\(UUID().uuidString)")
        try Data(body).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let before = ContinuousClock.now
        let entry = ledger.begin(what, kind.rawValue, request.url?.absoluteString ?? "")
        let watcher = Watcher(isFirst: { [ledger] in ledger.complete(entry, what) })
        let ending = await watcher.run(session.uploadTask(with: request, fromFile: file))
        judge(ending, what, .init(body: Self.receipt(body)), since: before)
    }

    private func cancel(_ what: String, _ number: Int, _ random: inout SeededRandom) async throws {
        let length = Self.length(&random)
        let point: CancelPoint =
            switch Int.random(in: 0..<3, using: &random) {
            case 0: .afterYields(Int.random(in: 0..<300, using: &random))
            case 1: .after(.microseconds(Int.random(in: 0..<30_000, using: &random)))
            default: .afterBytes(Int.random(in: 0...max(1, length), using: &random))
            }
        let place = random.chance(50) ? "slow" : "body"
        let form = Form.allCases.randomElement(using: &random) ?? .handler
        let before = ContinuousClock.now
        let ending = await load(try request("/\(place)/\(number)/\(length)"), what, as: form, cancelling: point)
        judge(
            ending, what, .init(body: SoakBody.bytes(number, length: length), mayBeCancelled: true), since: before
        )
    }

    private func timeout(_ what: String) async throws {
        var request = try request("/silent")
        request.timeoutInterval = 0.3
        let before = ContinuousClock.now
        let ending = await load(request, what, as: .handler)
        judge(ending, what, .init(body: [], mustTimeOut: true), since: before)
    }

    private func slowReader(_ what: String, _ number: Int, _ random: inout SeededRandom) async throws {
        let length = Int.random(in: 200_000...3_000_000, using: &random)
        let before = ContinuousClock.now
        let ending = await load(
            try request("/body/\(number)/\(length)"), what, as: random.chance(50) ? .sequence : .delegate, isSlow: true)
        judge(ending, what, .init(body: SoakBody.bytes(number, length: length)), since: before)
    }

    // MARK: Several requests

    private func cookies(_ what: String, _ number: Int, _ random: inout SeededRandom) async throws {
        let (place, cookie) = ("/cookie/\(number)", Array("c\(number)=v\(number)".utf8))
        guard try await load(place + "/set", what, Array("set".utf8), &random),
            try await load(place + "/get", what, cookie, &random),
            try await load(place + "/clear", what, Array("clear".utf8), &random)
        else { return }
        try await load(place + "/get", what, Array("none".utf8), &random)
    }

    /// A download that is stopped and goes on until it is whole.
    private func resume(_ what: String, _ number: Int, _ random: inout SeededRandom) async throws {
        let length = Int.random(in: 20_000...4_000_000, using: &random)
        let body = SoakBody.bytes(number, length: length)
        let request = try request("/range/\(number)/\(length)")
        var data: Data?
        for attempt in 0..<8 {
            let stop = attempt < 2 ? Int.random(in: 1...length, using: &random) : nil
            let before = ContinuousClock.now
            let entry = ledger.begin(what, kind.rawValue, request.url?.absoluteString ?? "")
            let watcher = Watcher(cancelAfter: stop, isFirst: { [ledger] in ledger.complete(entry, what) })
            let task = data.map { session.downloadTask(withResumeData: $0) } ?? session.downloadTask(with: request)
            let ending = await watcher.run(task)
            // The rest of a body is a success too.
            let status = ending.status == 206 && data != nil ? 206 : 200
            judge(
                ending, what, .init(status: status, body: body, mayBeCancelled: stop != nil), since: before)
            guard let error = ending.error as? URLError else { return }
            data = error.downloadTaskResumeData
        }
    }

    /// A session of its own, ended in order or in the middle.
    private func shortSession(_ what: String, _ number: Int, _ random: inout SeededRandom) async throws {
        let session = anotherSession()
        let isCancelled = random.chance(50)
        let lengths = (0..<4).map { _ in Self.length(&random) }
        let before = ContinuousClock.now
        // All are made first: a session that has ended takes no more.
        let runs = try lengths.map { length in
            let request = try request("/slow/\(number)/\(length)")
            let entry = ledger.begin(what, kind.rawValue, request.url?.absoluteString ?? "")
            let watcher = Watcher(isFirst: { [ledger] in ledger.complete(entry, what) })
            let task = session.dataTask(with: request)
            task.delegate = watcher
            return (watcher, task, length)
        }
        let yields = Int.random(in: 0..<100, using: &random)
        await withTaskGroup { group in
            for (watcher, task, length) in runs {
                group.addTask { [self] in
                    let ending = await watcher.end(of: task)
                    let body = SoakBody.bytes(number, length: length)
                    judge(ending, what, .init(body: body, mayBeCancelled: isCancelled), since: before)
                }
            }
            guard isCancelled else { return }
            for _ in 0..<yields { await Task.yield() }
            session.invalidateAndCancel()
        }
        if !isCancelled { session.finishTasksAndInvalidate() }
    }

    // MARK: Support

    /// Mostly small, seldom megabytes.
    static func length(_ random: inout SeededRandom) -> Int {
        switch Int.random(in: 0..<1000, using: &random) {
        case ..<600: Int.random(in: 0...2_000, using: &random)
        case ..<900: Int.random(in: 0...64_000, using: &random)
        case ..<995: Int.random(in: 0...500_000, using: &random)
        default: Int.random(in: 0...2_000_000, using: &random)
        }
    }

    /// What the server says about a body.
    private static func receipt(_ body: [UInt8]) -> [UInt8] { Array("\(body.count) \(SoakBody.hash(body))".utf8) }
}
