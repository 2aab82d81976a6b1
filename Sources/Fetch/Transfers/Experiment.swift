// Requests that are made to be measured or compared: --repeat and --compare. Their bodies are not written.

import Foundation
import URLLoading

/// Makes requests for reports.
struct Experiment: Sendable {
    let options: Options
    let contents: ReadContents
    let session: URLSession

    /// Makes one request.
    private func load(_ url: URL, _ sink: MemorySink) async throws(FetchError) -> AttemptResult {
        let prepared = try PreparedRequest(url, options, contents)
        let plan = AttemptPlan(
            number: 0, url: prepared.request.url ?? url, options: options, sink: sink, heads: nil, board: nil,
            hasRetries: false,
            retries: RetryRules(retries: 0, delay: nil), earlierFailures: 0, lastStart: nil, note: { Terminal.note($0) }
        )
        return await Attempt(plan).run(prepared, in: session)
    }

    // MARK: Again and again

    /// Makes the request of the URL so many times, one after the other or so many at once, and reports.
    func `repeat`(_ url: URL, times: Int) async -> TransferResult {
        let start = ContinuousClock.now
        let width = options.isParallel || options.parallel != nil ? options.parallel ?? 50 : 1
        let (samples, failure) = await withTaskGroup(of: (RepeatReport.Sample, FetchError?).self) { group in
            var (samples, failure, begun) = ([RepeatReport.Sample](), FetchError?.none, 0)
            func next() {
                guard begun < times, !Task.isCancelled else { return }
                begun += 1
                group.addTask { await sample(url) }
            }
            for _ in 0..<min(width, times) { next() }
            for await (sample, error) in group {
                samples.append(sample)
                failure = failure ?? error
                next()
            }
            return (samples, failure)
        }
        let report = RepeatReport(samples, duration: (ContinuousClock.now - start).seconds)
        _ = Terminal.write(Data(report.lines.map { VisibleText.of($0) + "\n" }.joined().utf8))
        var result = TransferResult()
        result.code = failure?.code ?? .success
        result.message = failure?.message ?? ""
        return result
    }

    private func sample(_ url: URL) async -> (RepeatReport.Sample, FetchError?) {
        let start = ContinuousClock.now
        do throws(FetchError) {
            let result = try await load(url, MemorySink(keeps: false))
            let exchanges = result.metrics?.transactionMetrics ?? []
            let begin = result.metrics?.taskInterval.start
            let first = exchanges.last?.responseStartDate.flatMap { date in begin.map { date.timeIntervalSince($0) } }
            let sample = RepeatReport.Sample(
                status: result.status, firstByte: first,
                total: result.metrics?.taskInterval.duration ?? (ContinuousClock.now - start).seconds,
                hasConnected: exchanges.contains { $0.connectEndDate != nil }, failure: result.failure?.message)
            return (sample, result.failure)
        } catch {
            let sample = RepeatReport.Sample(
                status: nil, firstByte: nil, total: (ContinuousClock.now - start).seconds, hasConnected: false,
                failure: error.message)
            return (sample, error)
        }
    }

    // MARK: Side by side

    /// Gets two URLs and says in what their answers differ.
    func compare(_ one: URL, _ other: URL) async -> TransferResult {
        var result = TransferResult()
        do throws(FetchError) {
            let comparison = Comparison(try await side(one), try await side(other))
            let paint = options.outputStyle.paint
            let lines = comparison.lines.map { paint.difference(VisibleText.of($0)) }
            let error = Terminal.write(Data(lines.map { $0 + "\n" }.joined().utf8))
            if error != 0 { result.code = FetchError.output(error).code }
        } catch {
            result.code = error.code
            result.message = error.message
            if options.complains { Terminal.complain(error.message, advice: error.advice) }
        }
        return result
    }

    private func side(_ url: URL) async throws(FetchError) -> Comparison.Side {
        let sink = MemorySink(keeps: true)
        let result = try await load(url, sink)
        if let failure = result.failure {
            throw FetchError(failure.code, "\(ResumeNote.name(of: url)): \(failure.message)", advice: failure.advice)
        }
        let response = result.response as? HTTPURLResponse
        let interval = result.metrics?.taskInterval
        let first = result.metrics?.transactionMetrics.last?.responseStartDate
        return Comparison.Side(
            url: ResumeNote.name(of: url), status: response?.statusLine ?? "no status",
            fields: response.map(HeadText.fields) ?? [], body: sink.body, length: sink.length,
            firstByte: first.flatMap { date in interval.map { date.timeIntervalSince($0.start) } } ?? 0,
            total: interval?.duration ?? 0)
    }
}
