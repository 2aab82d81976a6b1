// One URL of the command line, from its first attempt to its last report.

import Foundation
import Synchronization
import URLLoading

/// What a URL came to.
struct TransferResult: Sendable {
    /// Its place among the URLs, from 0.
    var number = 0
    var code = ExitCode.success
    var message = ""
    var result = AttemptResult()
    /// Where the body is; nil for standard output.
    var path: String?
    /// Whether https was a guess, and there is none.
    var isWrongGuess = false
    /// The metrics of all attempts, in order.
    var metrics: [URLSessionTaskMetrics] = []
}

/// Gets one URL.
struct Transfer: Sendable {
    let number: Int
    let target: Target
    let options: Options
    let contents: ReadContents
    let session: URLSession
    /// The file of `--dump-header`.
    let heads: HeadFile?
    let board: ProgressBoard?
    /// Whether others go on at the same time or after it, so that lines must say whose they are.
    let isOneOfMany: Bool
    /// Whether a failure has ended the whole run.
    let earlyEnd: EarlyEnd

    private var url: URL { target.url }

    func run() async -> TransferResult {
        if let plain = plainTarget {
            let report = await run(isGuess: true)
            guard report.isWrongGuess else { return report }
            if options.complains { note(["fetch: no https at \(url.host() ?? ""): trying http"]) }
            return await plain.run()
        }
        return await run(isGuess: false)
    }

    /// One that uses http, where https was only a guess, no secret is sent and nothing is wanted of TLS.
    private var plainTarget: Transfer? {
        let hasCookies = options.cookieField != nil || !options.cookieFiles.isEmpty
        let isPrivate =
            hasCookies || options.body != .none || options.login != nil || options.netrc != nil || options.usesTicket
            || options.bearerToken != nil || !options.fields.isEmpty || !options.query.isEmpty
            || options.putsDataInQuery
            || options.certificateFile != nil || url.user() != nil || url.query() != nil
        // Where a key, an authority or a version of TLS is named, or TLS is to be shown, no
        // answer without it is wanted.
        let needsTLS =
            !options.pins.isEmpty || options.anchorFile != nil || options.anchorFolder != nil
            || options.lowestTLS != nil || options.highestTLS != nil || options.showsTLS
        // What changes something is not sent twice.
        let isReading = ["GET", "HEAD"].contains(options.method ?? "GET")
        guard target.mayBePlain, !isPrivate, !needsTLS, isReading, options.schemes?.contains("http") ?? true,
            var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
        else { return nil }
        parts.scheme = "http"
        // Cookies that an earlier request of the run was given are the user's, too.
        guard let plain = parts.url, session.configuration.httpCookieStorage?.cookies(for: plain)?.isEmpty ?? true
        else { return nil }
        return Transfer(
            number: number, target: Target(plain, output: target.output), options: options, contents: contents,
            session: session, heads: heads, board: board, isOneOfMany: isOneOfMany, earlyEnd: earlyEnd)
    }

    private func run(isGuess: Bool) async -> TransferResult {
        let start = ContinuousClock.now
        var report = TransferResult()
        report.number = number
        do throws(FetchError) {
            if let refusal = options.refusal(of: url) { throw refusal }
            let prepared = try PreparedRequest(url, options, contents)
            let sink = try makeSink(prepared)
            board?.begin(number, name: sink.path.map { OutputPlace.lastName(of: $0) } ?? shownURL)
            await attempt(prepared, sink, &report, isGuess: isGuess)
            board?.end(number)
            report.path = sink.path
            tellEnd(report, sink, ContinuousClock.now - start)
            if options.failsWithBody, report.code == .success, let status = report.result.status, status >= 400 {
                throw FetchError(
                    .errorStatus, "the server answered with status \(status)",
                    advice: Advice.about(status: status, options))
            }
        } catch {
            fail(error, &report)
        }
        return report
    }

    /// Makes attempts until one is good, or no other may follow.
    private func attempt(
        _ prepared: PreparedRequest, _ sink: any Sink, _ report: inout TransferResult, isGuess: Bool
    ) async {
        var failures = 0
        let start = ContinuousClock.now
        let retries = RetryRules(
            retries: options.retries, delay: options.retryDelay, triesAll: options.retriesAllErrors)
        while true {
            let hasRetries = failures < options.retries && prepared.canRepeat
            let plan = AttemptPlan(
                number: number, url: prepared.request.url ?? url, options: options, sink: sink, heads: heads,
                board: board, hasRetries: hasRetries && sink.canTryAgain, retries: retries, earlierFailures: failures,
                lastStart: options.retryTime.map { start + .seconds($0) }, note: note, patience: options.attemptPatience
            )
            await attemptOnce(prepared, plan, &report)
            if report.result.isGood { return }
            if isGuess, report.result.failure?.isOfNoTLS ?? false {
                report.isWrongGuess = true
                _ = sink.fail()
                return
            }
            let pause = pause(after: report.result, of: prepared, plan)
            failures += 1
            guard hasRetries, let pause, sink.canTryAgain else { break }
            guard await wait(pause, failures, report.result) else {
                report.result.failure = FetchError(.interrupted, "interrupted")
                break
            }
        }
        let failure = report.result.failure
        if let kept = sink.fail(), options.complains { note(["fetch: " + kept]) }
        if let failure { fail(failure, &report) }
    }

    /// Makes one attempt, and keeps its body if it is good.
    private func attemptOnce(_ prepared: PreparedRequest, _ plan: AttemptPlan, _ report: inout TransferResult) async {
        var prepared = prepared
        do throws(FetchError) {
            try plan.sink.prepare(&prepared.request, plan.patience)
            if options.isVerbose { note(["* \(prepared.request.httpMethod ?? "GET") \(shownURL)"]) }
            report.result = await Attempt(plan).run(prepared, in: session)
            if let metrics = report.result.metrics {
                report.metrics.append(metrics)
                tellMetrics(metrics)
                if options.showsTLS { note(TLSReport.lines(report.result.chain, report.result, options)) }
            }
            if report.result.isGood { try keep(report.result, in: plan.sink) }
        } catch {
            report.result.failure = error
        }
    }

    /// The body has come as far as it does.
    private func keep(_ result: AttemptResult, in sink: any Sink) throws(FetchError) {
        if result.isUnchanged { tellUnchanged(sink) } else { try sink.finish() }
        // A tag that is kept says that the body is here: the next run would not ask for one that broke off.
        if let file = options.savedTag, let answer = result.response as? HTTPURLResponse {
            try RequestConditions.save(answer, to: file)
        }
    }

    /// Seconds until the next attempt: what the status has led to, else what the failure does;
    /// nil where none may begin.
    private func pause(after result: AttemptResult, of prepared: PreparedRequest, _ plan: AttemptPlan) -> Double? {
        if let pause = result.pause { return pause }
        guard let error = result.failure?.cause,
            let pause = plan.retries.pause(
                after: prepared.request, nil, error, earlierFailures: plan.earlierFailures),
            plan.allows(pause: pause)
        else { return nil }
        return pause
    }

    /// Waits for the next attempt; false where the user does not.
    private func wait(_ pause: Double, _ failures: Int, _ result: AttemptResult) async -> Bool {
        let reason = result.failure?.message ?? "the server answered with status \(result.status ?? 0)"
        if options.complains {
            let times = "attempt \(failures + 1) of \(options.retries + 1)"
            // What the library says is a sentence with a full stop.
            let words = reason.hasSuffix(".") ? reason.dropLast() : reason[...]
            note(["fetch: \(words); \(times) in \(QuantityText.duration(pause))"])
        }
        do {
            try await Task.sleep(for: .seconds(pause))
            return true
        } catch {
            return false
        }
    }

    // MARK: Reports

    private func fail(_ failure: FetchError, _ report: inout TransferResult) {
        report.code = failure.code
        report.message = failure.message
        guard options.complains, !failure.isExpected else { return }
        // The failure that ended the run has been told. This transfer has none of its own.
        if failure.code == .interrupted, earlyEnd.hasCome { return }
        note(Terminal.complaint((isOneOfMany ? "\(shownURL): " : "") + failure.message, advice: failure.advice))
    }

    private func tellEnd(_ report: TransferResult, _ sink: any Sink, _ time: Duration) {
        guard report.code == .success, !report.result.isUnchanged, let path = report.path else { return }
        let status = report.result.status ?? 0
        if status >= 400, options.complains {
            let words = "the server answered with status \(status); what it sent is in \(path)"
            note(["fetch: warning: \(words) (--fail keeps none of it)"])
        }
        guard board != nil else { return }
        let seconds = time.seconds
        let bytes = report.result.received
        let rate = seconds > 0 ? ", " + QuantityText.rate(Double(bytes) / seconds) : ""
        let resumed = sink.offset > 0 ? " behind \(QuantityText.bytes(sink.offset)) that were there" : ""
        note(["\(path): \(QuantityText.bytes(bytes))\(resumed) in \(QuantityText.duration(seconds))\(rate)"])
    }

    private func tellUnchanged(_ sink: any Sink) {
        let path = sink.path
        _ = sink.fail()
        if !options.isSilent, let path { note(["\(path): nothing new, it is as it was"]) }
    }

    private func tellMetrics(_ metrics: URLSessionTaskMetrics) {
        if options.usesCache, !options.isSilent { note(["* cache: \(Self.cacheUse(metrics))"]) }
        if options.isVerbose { note(WireTrace.lines(metrics)) }
        if options.showsTiming {
            let isScreen = Screen.standardError.isTerminal
            let width = isScreen ? Screen.standardError.size.columns - 1 : 80
            note(Waterfall(metrics).lines(width: width))
        }
    }

    /// What the cache had to do with the last exchange.
    private static func cacheUse(_ metrics: URLSessionTaskMetrics) -> String {
        guard let last = metrics.transactionMetrics.last, last.resourceFetchType == .localCache else { return "miss" }
        return last.networkProtocolName == nil ? "hit" : "revalidated"
    }

    private var note: @Sendable ([String]) -> Void {
        { lines in if !lines.isEmpty { Terminal.note(lines) } }
    }

    private var shownURL: String { ResumeNote.name(of: url) }

    private func makeSink(_ prepared: PreparedRequest) throws(FetchError) -> any Sink {
        var place: OutputPlace?
        switch target.output {
        case nil: return StandardOutput(isExplicit: false, style: options.outputStyle)
        case .file("-"):
            return StandardOutput(isExplicit: true, style: OutputStyle(formats: false, paint: Paint(isOn: false)))
        case .file(let name): place = try makePlace(name)
        case .remoteName:
            if prepared.request.httpMethod == "HEAD" {
                return StandardOutput(isExplicit: false, style: options.outputStyle)
            }
            if options.believesServersNames { break }
            guard let name = OutputName.of(url) else {
                throw FetchError(.cannotWrite, "\(shownURL) names no file", advice: "-o FILE names one")
            }
            place = try makePlace(name)
        }
        if place == nil, options.makesFolders, let folder = options.outputFolder {
            try OutputName.makeFolders(above: folder + "/")
        }
        let isSilent = options.isSilent
        return try OutputFile(
            place, folder: options.outputFolder, url: url, resumption: options.resumption,
            isPlainGET: prepared.isPlainGET, keepsTime: options.keepsTime, options.attemptPatience
        ) { reason in
            if !isSilent { Terminal.complain(reason) }
        }
    }

    /// Where a file of that name goes: folders are made, and files that are there kept, where the options say so.
    private func makePlace(_ name: String) throws(FetchError) -> OutputPlace {
        let path = options.path(of: name)
        if options.makesFolders { try OutputName.makeFolders(above: path) }
        let place = OutputPlace(path)
        return options.keepsOldFiles && !place.isSpecial ? OutputPlace(try OutputName.unusedNumber(path)) : place
    }
}

extension FetchError {
    /// Whether nothing listens, or something that speaks no TLS.
    fileprivate var isOfNoTLS: Bool {
        guard let cause else { return false }
        if cause.code == .cannotConnectToHost { return code == .cannotConnect }
        let underlying = cause.userInfo[NSUnderlyingErrorKey] as? NSError
        return underlying?.domain == URLLoadingErrorDomain.tls
            && underlying?.code == URLLoadingErrorDomain.TLSCode.notTLS.rawValue
    }
}
