// One URL of the command line, from its first attempt to its last report.

import Foundation
import Synchronization
import URLLoading

/// What a URL came to.
struct TransferResult: Sendable {
    var code = ExitCode.success
    var message = ""
    var result = AttemptResult()
    /// Where the body is; nil for standard output.
    var path: String?
    /// The metrics of all attempts, in order.
    var metrics: [URLSessionTaskMetrics] = []
}

/// Gets one URL.
struct Transfer: Sendable {
    let number: Int
    let url: URL
    let options: Options
    /// The file, or "-"; nil for standard output that nobody has named.
    let output: String?
    let body: ReadBody
    let session: URLSession
    let board: ProgressBoard?
    /// Whether others go on at the same time or after it, so that lines must say whose they are.
    let isOneOfMany: Bool

    func run() async -> TransferResult {
        let start = ContinuousClock.now
        var report = TransferResult()
        do throws(FetchError) {
            let prepared = try PreparedRequest(url, options, body: body)
            let sink = try makeSink(prepared)
            board?.begin(number, name: sink.path.map { ($0 as NSString).lastPathComponent } ?? shownURL)
            await attempt(prepared, sink, &report)
            board?.end(number)
            report.path = sink.path
            tellEnd(report, sink, ContinuousClock.now - start)
        } catch {
            fail(error, &report)
        }
        return report
    }

    private func attempt(_ prepared: PreparedRequest, _ sink: any Sink, _ report: inout TransferResult) async {
        var failures = 0
        let retries = RetryRules(retries: options.retries, delay: options.retryDelay)
        while true {
            let hasRetries = failures < options.retries && prepared.canRepeat
            let plan = AttemptPlan(
                number: number, url: prepared.request.url ?? url, options: options, sink: sink, board: board,
                hasRetries: hasRetries && sink.canTryAgain, retries: retries, earlierFailures: failures, note: note)
            var prepared = prepared
            do throws(FetchError) {
                try sink.prepare(&prepared.request)
                if options.isVerbose { note(["* \(prepared.request.httpMethod ?? "GET") \(shownURL)"]) }
                report.result = await Attempt(plan).run(prepared, in: session)
                if let metrics = report.result.metrics {
                    report.metrics.append(metrics)
                    tellMetrics(metrics)
                }
                if report.result.failure == nil, report.result.pause == nil { return try sink.finish() }
            } catch {
                report.result.failure = error
            }
            let pause =
                report.result.pause
                ?? report.result.failure?.cause.flatMap {
                    retries.pause(after: prepared.request, nil, $0, earlierFailures: failures)
                }
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

    /// Waits for the next attempt; false where the user does not.
    private func wait(_ pause: Double, _ failures: Int, _ result: AttemptResult) async -> Bool {
        let status = (result.response as? HTTPURLResponse)?.statusCode
        let reason = result.failure?.message ?? "the server answered with status \(status ?? 0)"
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
        note(["fetch: " + (isOneOfMany ? "\(shownURL): " : "") + failure.message])
        if options.isVerbose, let advice = failure.advice { note(["* \(advice)"]) }
    }

    private func tellEnd(_ report: TransferResult, _ sink: any Sink, _ time: Duration) {
        guard report.code == .success, let path = report.path else { return }
        let status = (report.result.response as? HTTPURLResponse)?.statusCode ?? 0
        if status >= 400, options.complains {
            let words = "the server answered with status \(status); what it sent is in \(path)"
            note(["fetch: warning: \(words) (--fail keeps none of it)"])
        }
        guard board != nil else { return }
        let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) * 1e-18
        let bytes = report.result.received
        let rate = seconds > 0 ? ", " + QuantityText.rate(Double(bytes) / seconds) : ""
        let resumed = sink.offset > 0 ? " behind \(QuantityText.bytes(sink.offset)) that were there" : ""
        note(["\(path): \(QuantityText.bytes(bytes))\(resumed) in \(QuantityText.duration(seconds))\(rate)"])
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
        if output == nil, !options.usesRemoteNames || prepared.request.httpMethod == "HEAD" {
            return StandardOutput(isExplicit: false)
        }
        if output == "-" { return StandardOutput(isExplicit: true) }
        var place = output.map(OutputPlace.init)
        if place == nil, !options.believesServersNames {
            guard let name = OutputName.of(url) else {
                throw FetchError(.cannotWrite, "\(shownURL) names no file: -o FILE does")
            }
            place = OutputPlace(name)
        }
        let isSilent = options.isSilent
        return try OutputFile(
            place, url: url, resumption: options.resumption, isPlainGET: prepared.isPlainGET
        ) { reason in
            if !isSilent { Terminal.complain(reason) }
        }
    }
}
