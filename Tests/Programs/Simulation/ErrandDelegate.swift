// The delegate of a simulated program. It answers what it is asked later, twice, or not at all, as chance has it, and
// writes down what it is told; what must not be told it complains about.

import Foundation
import Synchronization
import URLLoading
import URLLoadingSystem
import URLLoadingTestSupport

/// Answers and remembers.
//
// `@unchecked Sendable`: one thread plays, and there is no other in the process.
final class ErrandDelegate: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, @unchecked Sendable {
    private unowned let world: World
    private let whims: Whims
    /// The errands of tasks, by their identifiers.
    var errands: [Int: Errand] = [:]
    /// The errands that are async calls.
    var calls: [Errand] = []
    private(set) var invalidations = 0

    init(_ world: World, _ chance: inout SeededRandom) {
        self.world = world
        whims = Whims(world, &chance)
    }

    private func errand(of task: URLSessionTask, _ event: String) -> Errand? {
        guard let errand = errands[task.taskIdentifier] ?? awaited(task) else {
            world.complain("\(event) of a task that no errand made")
            return nil
        }
        world.tell("errand \(errand.number) hears: \(event)")
        if errand.ends > 0 { world.complain("errand \(errand.number): \(event) after its end") }
        errand.heardAt = world.now
        if invalidations > 0 { world.complain("errand \(errand.number): \(event) after the session's end") }
        return errand
    }

    /// The errand of an async call, whose tasks the program has not seen yet.
    private func awaited(_ task: URLSessionTask) -> Errand? {
        let number = task.originalRequest?.value(forHTTPHeaderField: "X-Number").flatMap { Int($0) }
        guard let errand = calls.first(where: { $0.number == number }) else { return nil }
        errand.task = task
        errands[task.taskIdentifier] = errand
        return errand
    }

    private func ask(_ errand: Errand, _ answer: @escaping () -> Void, again: @escaping () -> Void) {
        errand.openQuestions += 1
        whims.reply(
            {
                errand.openQuestions -= 1
                answer()
            }, again: again)
    }

    // MARK: The session

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        world.tell("the session has become invalid")
        invalidations += 1
        if invalidations > 1 { world.complain("the session became invalid \(invalidations) times") }
    }

    // MARK: Tasks

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let errand = errand(of: task, "end, \(Self.name(error))") else { return }
        end(errand, error, task)
    }

    /// Notes the end of an errand, and of its task where that is seen.
    func end(_ errand: Errand, _ error: (any Error)?, _ task: URLSessionTask?) {
        errand.ends += 1
        errand.endedAt = world.now
        errand.endedUnanswered = errand.openQuestions > 0
        errand.error = error
        guard let task else { return }
        if task.state != .completed {
            world.complain("errand \(errand.number): its end was told in state \(task.state)")
        }
        if task.countOfBytesReceived < 0 { world.complain("errand \(errand.number): fewer than no bytes") }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard let errand = errand(of: task, "redirect by \(response.statusCode)") else { return completionHandler(nil) }
        let follows = whims.happens(85)
        ask(
            errand,
            { [self] in
                world.tell("errand \(errand.number): \(follows ? "follows" : "does not follow")")
                if follows { errand.followed += 1 } else { errand.isRefusedRedirect = true }
                completionHandler(follows ? request : nil)
            }, again: { completionHandler(follows ? nil : request) })
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let errand = errand(of: task, "challenge \(challenge.previousFailureCount)") else { return }
        let right = URLCredential(user: "mole", password: "burrow", persistence: .forSession)
        let wrong = URLCredential(user: "mole", password: "barrow", persistence: .none)
        let draw = whims.draw()
        ask(
            errand,
            { [self] in
                world.tell("errand \(errand.number): answers the challenge")
                switch draw {
                case ..<70: completionHandler(.useCredential, right)
                case ..<85 where challenge.previousFailureCount < 2: completionHandler(.useCredential, wrong)
                case ..<95: completionHandler(.performDefaultHandling, nil)
                default:
                    errand.isCancelled = true
                    completionHandler(.cancelAuthenticationChallenge, nil)
                }
            }, again: { completionHandler(.useCredential, right) })
    }

    // MARK: Data

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        guard let errand = errand(of: dataTask, "response"), let response = response as? HTTPURLResponse else { return }
        errand.responses.append(response)
        errand.mayTakeBody = false
        let draw = whims.draw()
        ask(
            errand,
            { [self] in
                world.tell("errand \(errand.number): decides on the response")
                errand.mayTakeBody = true
                switch draw {
                case ..<88: completionHandler(.allow)
                case ..<94: completionHandler(.becomeDownload)
                default:
                    errand.isCancelled = true
                    completionHandler(.cancel)
                }
            }, again: { completionHandler(.allow) })
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard let errand = errand(of: dataTask, "\(data.count) bytes") else { return }
        if !errand.mayTakeBody { world.complain("errand \(errand.number): its body came before the answer") }
        if errand.responses.isEmpty { world.complain("errand \(errand.number): its body came before the response") }
        if let since = errand.suspendedSince, world.now - since > .seconds(10) {
            world.complain("errand \(errand.number): bytes while it stands still")
        }
        errand.data += data
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask
    ) {
        guard let errand = errand(of: dataTask, "becomes a download") else { return }
        errand.task = downloadTask
    }

    // MARK: Downloads

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        guard let errand = errand(of: downloadTask, "file") else { return }
        take(location, of: errand, downloadTask)
    }

    /// Reads a file that a task has brought.
    func take(_ location: URL, of errand: Errand, _ task: URLSessionTask? = nil) {
        // Not by `Data(contentsOf:)`, which loses 4 KiB for each empty file.
        guard let file = try? FileHandle(forReadingFrom: location), let data = try? file.readToEnd() ?? Data() else {
            return world.complain("errand \(errand.number): its file cannot be read")
        }
        if errand.hasFile { world.complain("errand \(errand.number): a second file") }
        errand.hasFile = true
        errand.data = data
        if let response = task?.response as? HTTPURLResponse, errand.responses.isEmpty {
            errand.responses.append(response)
        }
    }

    /// An error in one word.
    static func name(_ error: (any Error)?) -> String { error.map { "error \(($0 as NSError).code)" } ?? "no error" }
}
