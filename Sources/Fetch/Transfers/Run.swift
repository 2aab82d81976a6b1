// One group of URLs: its session, all of them one after the other or several at once, and what is written at the end.

import Foundation
import Synchronization
import URLLoading

/// Does what the options say.
struct Run: Sendable {
    private let options: Options
    private let contents: ReadContents
    private let setup: SessionSetup
    private let session: URLSession
    /// The file of `--dump-header`.
    private let heads: HeadFile?

    /// Prepares all groups, so that what is wrong with one of them is known before anything is asked for.
    /// They share their cookies.
    static func all(_ groups: [Options]) throws(FetchError) -> [Run] {
        let cookies = HTTPCookieStorage()
        var runs: [Run] = []
        for options in groups { runs.append(try Run(options, cookies)) }
        return runs
    }

    /// Runs one group after the other; the code of the first that failed.
    static func run(_ runs: [Run]) async -> ExitCode {
        var code = ExitCode.success
        for run in runs {
            let next = await run.run()
            if code == .success { code = next }
            if Task.isCancelled || run.options.stopsAtFirstFailure && code != .success { break }
        }
        return code
    }

    private init(_ options: Options, _ cookies: HTTPCookieStorage) throws(FetchError) {
        var options = options
        try Self.refuseSchemes(options)
        try Self.askForPasswords(&options)
        let body = try BodyReader.read(options.body)
        if !options.query.isEmpty { try options.addToQueries(BodyReader.joined(options.query)) }
        if options.putsDataInQuery, case .data(let data) = body {
            try options.addToQueries(data)
            options.body = .none
        }
        if let place = options.netrc { options.logins = try NetrcFile.read(place, warn: options.complains) }
        try Self.refuseSharedFiles(options)
        contents = ReadContents(body: body, conditions: try RequestConditions.fields(options))
        heads = try options.headFile.map { (file) throws(FetchError) in try HeadFile(file) }
        setup = try SessionSetup(options, cookies)
        self.options = options
        session = setup.makeSession(options)
    }

    /// Gets everything; the first failure's code in the order of the URLs, else success.
    private func run() async -> ExitCode {
        let results = await transfers()
        if options.usesCache { await session.flush() }
        session.finishTasksAndInvalidate()
        var code = results.first { $0.code != .success }?.code ?? .success
        do throws(FetchError) {
            if let path = options.cookieJar { try CookieFile.write(setup.cookies.cookies ?? [], to: path) }
            if let path = options.harFile {
                try HARFile.write(results.flatMap(\.metrics), keepingSecrets: options.keepsSecretsInHAR, to: path)
            }
        } catch {
            if options.complains, !error.isExpected { Terminal.complain(error.message) }
            if code == .success { code = error.code }
        }
        return code
    }

    private func transfers() async -> [TransferResult] {
        if let url = options.targets.first?.url, url.isWebSocket {
            return [await Conversation(url, options).run(in: session)]
        }
        let experiment = Experiment(options: options, contents: contents, session: session)
        if let times = options.repetitions, let target = options.targets.first {
            return [await experiment.repeat(target.url, times: times)]
        }
        if let other = options.comparison, let target = options.targets.first {
            return [await experiment.compare(target.url, other)]
        }
        return await loads()
    }

    /// Gets every URL, one after the other or several at once.
    private func loads() async -> [TransferResult] {
        let earlyEnd = EarlyEnd()
        let all = makeTransfers(earlyEnd)
        return await withTaskGroup(of: TransferResult.self) { group in
            for transfer in all.prefix(mostAtOnce) { group.addTask { await transfer.run() } }
            var waiting = all.dropFirst(mostAtOnce)
            var results: [Int: TransferResult] = [:]
            // What --write-out has comes in the order of the URLs, unless they are asked for at once on purpose.
            var told = 0
            for await result in group {
                results[result.number] = result
                if options.isParallel {
                    results[result.number] = tell(result, all[result.number].target.url)
                } else {
                    while let next = results[told] {
                        results[told] = tell(next, all[told].target.url)
                        told += 1
                    }
                }
                if options.stopsAtFirstFailure, result.code != .success {
                    earlyEnd.come()
                    group.cancelAll()
                    // What is cancelled now is no failure of its own.
                    return [result]
                }
                guard !Task.isCancelled, let transfer = waiting.popFirst() else { continue }
                group.addTask { await transfer.run() }
            }
            return results.sorted { $0.key < $1.key }.map(\.value)
        }
    }

    private func makeTransfers(_ earlyEnd: EarlyEnd) -> [Transfer] {
        let showsProgress =
            !options.isSilent && !options.hidesProgress
            && (areFiles || !Terminal.showsOutput && Screen.standardError.isTerminal)
        let board = showsProgress ? ProgressBoard() : nil
        return options.targets.enumerated().map { number, target in
            Transfer(
                number: number, target: target, options: options, contents: contents, session: session, heads: heads,
                board: board, isOneOfMany: options.targets.count > 1, earlyEnd: earlyEnd)
        }
    }

    /// Whether no body goes to standard output.
    private var areFiles: Bool { options.targets.allSatisfy(\.isIntoFile) }

    /// A body on standard output comes after the one before, or they could not be told apart.
    private var mostAtOnce: Int { areFiles ? options.parallel ?? (options.isParallel ? 50 : 6) : 1 }

    /// Writes what --write-out has; what the transfer came to where that cannot be written.
    private func tell(_ result: TransferResult, _ url: URL) -> TransferResult {
        guard let format = options.writeOut else { return result }
        var result = result
        var terminals: Set<WriteOutFormat.Stream> = []
        if Terminal.showsOutput { terminals.insert(.output) }
        if isatty(STDERR_FILENO) == 1 { terminals.insert(.errors) }
        for part in format.parts(WriteOutValues(result, url), terminals: terminals) {
            switch part.stream {
            case .output:
                let error = Terminal.write(Data(part.text.utf8))
                guard error != 0, result.code == .success else { continue }
                let failure = FetchError.output(error)
                result.code = failure.code
                result.message = failure.message
                if options.complains, !failure.isExpected { Terminal.complain(failure.message) }
            case .errors: Screen.standardError.write(text: part.text)
            }
        }
        return result
    }

    /// A web socket, and requests that are made for a report, stand alone: where --proto forbids one nothing is done.
    /// Of other URLs each is looked at when its turn comes, and those that are allowed are asked for.
    private static func refuseSchemes(_ options: Options) throws(FetchError) {
        let urls = options.urls
        guard options.isExperiment || urls.contains(where: \.isWebSocket) else { return }
        for url in urls {
            if let refusal = options.refusal(of: url) { throw refusal }
        }
    }

    /// Two bodies that would become one file are a mistake, which is told before anything is asked for.
    private static func refuseSharedFiles(_ options: Options) throws(FetchError) {
        if options.keepsOldFiles { return }
        var paths: Set<String> = []
        for target in options.targets {
            let name: String
            switch target.output {
            case .file("-"), nil: continue
            case .file(let file): name = file
            case .remoteName:
                guard !options.believesServersNames, options.method != "HEAD", let last = OutputName.of(target.url)
                else { continue }
                name = last
            }
            let place = OutputPlace(options.path(of: name))
            if place.isSpecial { continue }
            guard paths.insert(URL(fileURLWithPath: place.path).standardizedFileURL.path).inserted else {
                throw FetchError(
                    .usage, "\(name) would be the output of two URLs",
                    advice: "-o FILE names one for each, and #1 in it is what was chosen in braces or brackets")
            }
        }
    }

    private static func askForPasswords(_ options: inout Options) throws(FetchError) {
        if let login = options.login, login.password == nil {
            var hosts: [String] = []
            for host in options.targets.compactMap({ $0.url.host() }) where !hosts.contains(host) { hosts.append(host) }
            options.login?.password = try PasswordPrompt.ask(
                "Password of \(login.name) for \(hosts.joined(separator: ", ")): ")
        }
        if let login = options.proxyLogin, login.password == nil, case .server(let proxy)? = options.proxy {
            options.proxyLogin?.password = try PasswordPrompt.ask("Password of \(login.name) for the proxy \(proxy): ")
        }
    }
}

extension Options {
    /// Where a file of that name is written.
    func path(of name: String) -> String { outputFolder.map { "\($0)/\(name)" } ?? name }

    fileprivate mutating func addToQueries(_ data: Data) throws(FetchError) {
        for number in targets.indices {
            guard let url = QueryText.adding(data, to: targets[number].url) else {
                throw FetchError(.badURL, "the data makes no query of a URL")
            }
            targets[number].url = url
        }
    }
}

/// Control-C and its kin.
enum Interruption {
    private static let came = Atomic(false)

    /// Whether one of them has come.
    static var hasCome: Bool { came.load(ordering: .relaxed) }

    /// Whether the caller has a signal ignored, as nohup has, or a shell for what runs in the background. It stays so.
    static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Runs something that is cancelled by the first signal; a second one ends the process as ever.
    static func cancelling(_ work: @escaping @Sendable () async -> ExitCode) async -> ExitCode {
        let numbers = [SIGINT, SIGTERM, SIGHUP].filter { !isIgnored($0) }
        let registered = DispatchGroup()
        for _ in numbers { registered.enter() }
        let task = Task {
            // Nothing is begun before all signals are watched: one that came in between would end the program, and what
            // can be gone on with would not be kept.
            await withCheckedContinuation { continuation in
                registered.notify(queue: .global()) { continuation.resume() }
            }
            return await work()
        }
        let sources = numbers.map { number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            // From here on Dispatch catches the signal; until then it ends the program, as ever.
            source.setRegistrationHandler { registered.leave() }
            source.setEventHandler {
                signal(number, SIG_DFL)
                // A thread that waits until its output is read does not hear of the cancellation.
                came.store(true, ordering: .relaxed)
                task.cancel()
            }
            source.resume()
            return source
        }
        let code = await task.value
        sources.forEach { $0.cancel() }
        return code
    }
}
