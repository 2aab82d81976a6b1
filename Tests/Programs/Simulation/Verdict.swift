// What must hold of each task when all is over, whatever has happened.

import Foundation
import URLLoading
import URLLoadingTestSupport

/// Judges the tasks of a run.
struct Verdict {
    let world: World
    let program: Program
    let stage: Stage

    /// Complains about whatever is wrong.
    func give() {
        if program.delegate.invalidations != 1 {
            world.complain("the session became invalid \(program.delegate.invalidations) times")
        }
        for errand in program.errands {
            guard errand.ends == 1 else {
                world.complain("errand \(errand.number) ended \(errand.ends) times")
                continue
            }
            if let error = errand.error { judge(errand, error as NSError) } else { judgeAnswer(of: errand) }
            judgeTime(of: errand)
            judgeChain(of: errand)
        }
    }

    private func complain(_ errand: Errand, _ words: String) { world.complain("errand \(errand.number): \(words)") }

    // MARK: Answers

    private func judgeAnswer(of errand: Errand) {
        guard let response = errand.responses.last else { return complain(errand, "no error and no response") }
        if errand.responses.count > 1 { complain(errand, "\(errand.responses.count) responses") }
        let hop = errand.followed
        guard response.value(forHTTPHeaderField: "X-Errand") == errand.mark(hop) else {
            return complain(errand, "the answer is another's: \(response.allHeaderFields)")
        }
        switch (response.statusCode, errand.part) {
        case (200, _) where errand.isReplaced: break
        case (200, .guarded), (200, .answer), (200, .breaksOff), (200, .refuse), (200, .stored): break
        case (200, .redirect(let count)): if hop != count { complain(errand, "it ended at hop \(hop)") }
        case (401, .guarded): return
        case (503, .answer):
            // B6.33, B6.34: what must not be done twice, what has no time left, and what was tried before in vain.
            let took = errand.endedAt.flatMap { ended in errand.begun.map { ended - $0 } } ?? .zero
            // An attempt may have gone with a connection, and no server have seen it.
            let isFirst = world.network.failures == 0 && !world.network.hasBroken
            let hasTime = took < .seconds(program.resourceTimeout) - .seconds(4) && isFirst
            if !world.triesAgain || errand.isAwaited || errand.isSafe && hasTime || errand.form == .upload && hasTime {
                complain(errand, "it ended with an answer after which it was to be tried again")
            }
            return
        case (302, .redirect), (307, .redirect):
            if !errand.isRefusedRedirect { complain(errand, "a redirect was not followed") }
            return
        default: return complain(errand, "status \(response.statusCode) for \(errand.part)")
        }
        if errand.askedAt == nil, !errand.isReplaced { judgeStored(errand) }
        let isFile = errand.form == .download || errand.form == .downloadHandler
        if isFile, !errand.hasFile { complain(errand, "there is no file") }
        if let difference = firstDifference(Array(errand.data), errand.body(hop)) {
            complain(errand, "its body is another: \(difference)")
        }
    }

    /// No server was asked: a cache has answered, and what it has must be good still.
    private func judgeStored(_ errand: Errand) {
        guard case .stored = errand.part, let begun = errand.begun else {
            return complain(errand, "an answer, and no server was asked")
        }
        // A clock that is set back makes everything younger.
        if world.hasSetWallClock { return }
        let isGood = stage.storings.contains { storing in
            storing.resource == errand.number % 2 && storing.moment + .seconds(storing.age + 1) >= begun
        }
        if !isGood { complain(errand, "a stored answer that is too old") }
    }

    // MARK: Errors

    private func judge(_ errand: Errand, _ error: NSError) {
        switch URLError.Code(rawValue: error.code) {
        case .cancelled:
            // A session that has ended makes no task for an interceptor any more.
            if !errand.isCancelled, !(errand.isAwaited && program.hasEnded) {
                complain(errand, "it ends as if cancelled")
            }
        case .timedOut: break
        case .networkConnectionLost, .badServerResponse, .cannotParseResponse:
            if !errand.isSpoilt, !world.network.hasBroken {
                complain(errand, "it ends with \(error.code), and nothing was lost")
            }
        case .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .resourceUnavailable:
            if world.network.failures == 0 { complain(errand, "it ends with \(error.code), and nothing has failed") }
        default:
            complain(errand, "it ends with \(error)")
        }
        if error.domain != NSURLErrorDomain { complain(errand, "its error is of \(error.domain)") }
    }

    // MARK: Interceptors

    private func judgeChain(of errand: Errand) {
        guard errand.isAwaited, let chain = program.chain else { return }
        if chain.inside[errand.number] ?? 0 != 0 { complain(errand, "it has ended, and is with an interceptor still") }
        let loads = chain.loads[errand.number] ?? 0
        let most = if case .answer = errand.part, errand.isBusy { 2 } else { 1 }
        if loads > (errand.isReplaced ? 0 : most) { complain(errand, "\(loads) loads") }
        if errand.error == nil, loads == 0, !errand.isReplaced { complain(errand, "an answer, and nothing was loaded") }
    }

    // MARK: Time

    private func judgeTime(of errand: Errand) {
        guard let begun = errand.begun, let ended = errand.endedAt else { return complain(errand, "it never began") }
        let took = ended - begun
        // The delegate queue may be busy, and has a line.
        // A second load has a time of its own.
        let latest = Duration.seconds((program.resourceTimeout + 5) * (errand.isAwaited ? 2 : 1))
        if took > latest { complain(errand, "it took \(took), with \(program.resourceTimeout) s to go") }
        let isTimedOut = errand.error.map { ($0 as NSError).code } == URLError.Code.timedOut.rawValue
        if case .silence = errand.part, errand.form != .upload, !errand.wasSuspended, !errand.isCancelled,
            let asked = errand.askedAt, !world.network.hasBroken
        {
            // The request was on its way for a while; what ends a task may wait in the delegate queue's line.
            let silent = ended - asked
            let least = Duration.seconds(program.requestTimeout) - .seconds(1)
            let most = Duration.seconds(program.requestTimeout + 5)
            // The attempts behind it may have met something else than silence.
            if !isTimedOut, !world.triesAgain || world.network.failures == 0 {
                complain(errand, "no server has answered, and it ends with \(String(describing: errand.error))")
            }
            let isOverAnyway = took >= .seconds(program.resourceTimeout)
            // An attempt that comes to nothing else asks a store all the same, and waits as long as there is time.
            let mayWaitElsewhere = world.triesAgain && program.hasOwnStores
            if silent < least && !isOverAnyway || silent > most && !mayWaitElsewhere {
                complain(errand, "it timed out after \(silent) of silence")
            }
        }
        if isTimedOut, took < .seconds(program.resourceTimeout), let since = errand.suspendedSince,
            ended - since > .seconds(1)
        {
            complain(errand, "it timed out while it stood still")
        }
        if isTimedOut, took < .seconds(program.resourceTimeout), errand.isAnswered, !world.network.weather.isSilent {
            complain(errand, "it timed out, and no server was silent")
        }
        if isTimedOut, !errand.responses.isEmpty, errand.isAnswered, !errand.wasSuspended, !errand.endedUnanswered,
            !world.network.weather.isSilent, let heard = errand.heardAt, let before = errand.quietSince,
            heard - before > .seconds(15)
        {
            complain(errand, "its body stops for \(heard - before), and no question is open")
        }
        if let cancelled = errand.cancelledAt, ended - cancelled > .seconds(6) {
            complain(errand, "it ended \(ended - cancelled) after it was cancelled")
        }
        if isTimedOut, took < .seconds(program.requestTimeout) { complain(errand, "it timed out after \(took)") }
    }
}
