// A program with a background session, for tests that kill it: ten downloads and five uploads, or
// whatever is left of them.
//
//     background FOLDER URL begin    makes the tasks, and dies by its own hand as soon as all are resumed
//     background FOLDER URL leave    makes one task, and ends as soon as that is resumed
//     background FOLDER URL stay     makes the tasks, says so in FOLDER/began, and waits to be killed
//     background FOLDER URL run      makes the tasks and waits for them
//     background FOLDER URL pending  says which sessions have something to tell
//     background FOLDER URL resume   meets what is left, waits for it, and ends the session
//     background FOLDER URL intrude  makes one task more beside a program that has the session, and says how it ended
//     background FOLDER URL crowd    makes a task whose journal is long, and then one whose journal is short
//     background FOLDER URL ordinary has no background session, but a default one, and loads URL with it
//
// What it hears it writes to FOLDER/log, a line for each: `met 3 download-3`, `file download-3`, `end download-3 0`,
// `events`, `invalid`. FOLDER/done has the files, FOLDER/state the sessions' state.

import Foundation
import Synchronization
import URLLoading
import URLLoadingTestSupport

/// Has a background session, and does one thing with it.
enum BackgroundTool {
    static func run(_ words: [String]) async {
        // It never outlives a test that has failed, or was killed itself, for long.
        alarm(120)
        guard words.count >= 3, let base = URL(string: words[1]) else { exit(64) }
        if words[2] == "pending" {
            let found = URLSession.backgroundIdentifiersWithEvents(in: URL(fileURLWithPath: words[0] + "/state"))
            print(found.joined(separator: ","))
            exit(0)
        }
        if words[2] == "ordinary" {
            // In a session of its own, away from every terminal: as services run.
            guard setsid() > 0, let (data, _) = try? await URLSession(configuration: .default).data(from: base) else {
                exit(1)
            }
            print(String(decoding: data, as: UTF8.self))
            exit(0)
        }
        let run = BackgroundRun(folder: words[0], base: base)
        switch words[2] {
        case "begin":
            run.begin()
            kill(getpid(), SIGKILL)
        case "leave": run.leave()
        case "stay":
            run.begin()
            run.note("began", in: "began")
            while true { pause() }
        case "run":
            run.begin()
            run.note("began", in: "began")
            await run.resume()
        case "resume": await run.resume()
        case "intrude": await run.intrude()
        case "crowd": await run.crowd()
        default: exit(64)
        }
        exit(0)
    }
}

/// One life of the program.
final class BackgroundRun: NSObject, URLSessionDownloadDelegate, URLSessionDataDelegate {
    private let folder: String
    private let base: URL
    private let session = Mutex<URLSession?>(nil)
    private let left = Mutex<(count: Int, waiting: Handover<Void, Never>?)>((0, nil))
    private let ended = Mutex<Handover<Void, Never>?>(nil)

    init(folder: String, base: URL) {
        self.folder = folder
        self.base = base
        super.init()
        let configuration = URLSessionConfiguration.background(withIdentifier: "must be shown")
        configuration.backgroundStateDirectory = URL(fileURLWithPath: folder + "/state")
        configuration.timeoutIntervalForResource = 120
        configuration.usesBackgroundHelper = getenv("BACKGROUND_TOOL_ALONE") == nil
        let made = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        session.withLock { $0 = made }
    }

    private var made: URLSession { session.withLock { $0 } ?? .shared }

    func begin() {
        for number in 1...10 {
            let task = made.downloadTask(with: base.appendingPathComponent("download-\(number)"))
            task.taskDescription = "download-\(number)"
            task.resume()
        }
        for number in 1...5 {
            var request = URLRequest(url: base.appendingPathComponent("upload-\(number)"))
            request.httpMethod = "PUT"
            let file = URL(fileURLWithPath: folder + "/upload-\(number)")
            let task = made.uploadTask(with: request, fromFile: file)
            task.taskDescription = "upload-\(number)"
            task.resume()
        }
    }

    func leave() {
        let task = made.downloadTask(with: base.appendingPathComponent("download-1"))
        task.taskDescription = "download-1"
        task.resume()
    }

    func resume() async {
        let tasks = await made.allTasks.sorted { $0.taskIdentifier < $1.taskIdentifier }
        for task in tasks {
            note("met \(task.taskIdentifier) \(task.taskDescription ?? "?") \(task.originalRequest?.url?.path ?? "?")")
        }
        await withHandover { waiting in
            let isOver = left.withLock { left in
                left.count += tasks.count
                if left.count > 0 { left.waiting = waiting }
                return left.count <= 0
            }
            if isOver { waiting.resume() }
        }
        await end()
    }

    func intrude() async {
        let task = made.downloadTask(with: base.appendingPathComponent("intruder"))
        task.taskDescription = "intruder"
        await withHandover { waiting in
            left.withLock { $0 = (1, waiting) }
            task.resume()
        }
        await end()
    }

    func crowd() async {
        var request = URLRequest(url: base.appendingPathComponent("long"))
        request.setValue(String(repeating: "x", count: 20_000), forHTTPHeaderField: "X-Long")
        let long = made.downloadTask(with: request)
        long.taskDescription = "long"
        let short = made.downloadTask(with: base.appendingPathComponent("short"))
        short.taskDescription = "short"
        await withHandover { waiting in
            left.withLock { $0 = (2, waiting) }
            long.resume()
            short.resume()
        }
        await end()
    }

    private func end() async {
        await withHandover { waiting in
            ended.withLock { $0 = waiting }
            made.finishTasksAndInvalidate()
        }
    }

    // MARK: What it hears

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        let name = downloadTask.taskDescription ?? "?"
        let isMoved = rename(location.path, folder + "/done/" + name) == 0
        note("file \(name)\(isMoved ? "" : " lost")")
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        note("answer \(dataTask.taskDescription ?? "?") \(String(decoding: data, as: UTF8.self))")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        note("end \(task.taskDescription ?? "?") \((error as? URLError)?.code.rawValue ?? 0)")
        let waiting = left.withLock { left -> Handover<Void, Never>? in
            left.count -= 1
            guard left.count == 0 else { return nil }
            defer { left.waiting = nil }
            return left.waiting
        }
        waiting?.resume()
    }

    /// Passed on to the main queue, as programs do that call what their system has given them there.
    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
        DispatchQueue.main.sync { note("events") }
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        note("invalid")
        let waiting = ended.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        waiting?.resume()
    }

    /// By one call of the system, which a death does not tear.
    func note(_ text: String, in name: String = "log") {
        let file = open(folder + "/" + name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        let bytes = Array((text + "\n").utf8)
        _ = bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        close(file)
    }
}
