// The whole run: session, all URLs one after the other or several at once, and what is written at the end.

import Foundation
import URLLoading

/// Does what the options say.
struct Run: Sendable {
    private let options: Options
    private let body: ReadBody
    private let setup: SessionSetup
    private let session: URLSession

    init(_ options: Options) throws(FetchError) {
        var options = options
        try Self.askForPasswords(&options)
        let body = try BodyReader.read(options.body)
        if options.putsDataInQuery, case .data(let data) = body {
            options.urls = options.urls.compactMap { QueryText.adding(data, to: $0) }
            options.body = .none
        }
        if let place = options.netrc { options.logins = try NetrcFile.read(place, warn: options.complains) }
        try Self.refuseSharedFiles(options)
        self.options = options
        self.body = body
        setup = try SessionSetup(options)
        session = URLSession(configuration: setup.configuration, delegate: ChallengeDesk(), delegateQueue: nil)
    }

    /// Gets everything; the first failure's code in the order of the URLs, else success.
    func run() async -> ExitCode {
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
            if options.complains { Terminal.complain(error.message) }
            if code == .success { code = error.code }
        }
        return code
    }

    private func transfers() async -> [TransferResult] {
        if let url = options.urls.first, url.isWebSocket { return [await Conversation(url, options).run(in: session)] }
        let outputs = options.urls.indices.map { $0 < options.outputs.count ? options.outputs[$0] : nil }
        let areFiles = options.usesRemoteNames || outputs.allSatisfy { $0 != nil && $0 != "-" }
        // A body on standard output comes after the one before, or nobody could tell them apart.
        let limit = areFiles ? options.parallel ?? 6 : 1
        let showsProgress =
            !options.isSilent && (areFiles || !Terminal.showsOutput && Screen.standardError.isTerminal)
        let board = showsProgress ? ProgressBoard() : nil
        let all = options.urls.enumerated().map { number, url in
            Transfer(
                number: number, url: url, options: options, output: outputs[number], body: body, session: session,
                board: board, isOneOfMany: options.urls.count > 1)
        }
        return await withTaskGroup(of: (Int, TransferResult).self) { group in
            var results: [Int: TransferResult] = [:]
            var next = 0
            while next < min(limit, all.count) {
                let transfer = all[next]
                group.addTask { (transfer.number, await transfer.run()) }
                next += 1
            }
            for await (number, result) in group {
                results[number] = result
                tell(result, all[number].url)
                guard next < all.count, !Task.isCancelled else { continue }
                let transfer = all[next]
                group.addTask { (transfer.number, await transfer.run()) }
                next += 1
            }
            return results.sorted { $0.key < $1.key }.map(\.value)
        }
    }

    private func tell(_ result: TransferResult, _ url: URL) {
        guard let format = options.writeOut else { return }
        _ = Terminal.write(Data(format.text(WriteOutValues(result, url)).utf8))
    }

    /// Two bodies that would become one file are a mistake, which is told before anything is asked for.
    private static func refuseSharedFiles(_ options: Options) throws(FetchError) {
        var names = options.outputs.filter { $0 != "-" }
        if options.usesRemoteNames, !options.believesServersNames, options.method != "HEAD" {
            names = options.urls.compactMap(OutputName.of)
        }
        var paths: Set<String> = []
        for name in names {
            let place = OutputPlace(name)
            if place.isSpecial { continue }
            guard paths.insert(URL(fileURLWithPath: place.path).standardizedFileURL.path).inserted else {
                throw FetchError(.usage, "\(name) would be the output of two URLs: -o FILE names one for each")
            }
        }
    }

    private static func askForPasswords(_ options: inout Options) throws(FetchError) {
        if let login = options.login, login.password == nil {
            var hosts: [String] = []
            for host in options.urls.compactMap({ $0.host() }) where !hosts.contains(host) { hosts.append(host) }
            options.login?.password = try PasswordPrompt.ask(
                "Password of \(login.name) for \(hosts.joined(separator: ", ")): ")
        }
        if let login = options.proxyLogin, login.password == nil, case .server(let proxy)? = options.proxy {
            options.proxyLogin?.password = try PasswordPrompt.ask("Password of \(login.name) for the proxy \(proxy): ")
        }
    }
}

/// Control-C and its kin.
enum Interruption {
    /// Runs something that is cancelled by the first signal; a second one ends the process as ever.
    static func cancelling(_ work: @escaping @Sendable () async -> ExitCode) async -> ExitCode {
        let numbers = [SIGINT, SIGTERM, SIGHUP]
        let registered = DispatchGroup()
        for _ in numbers { registered.enter() }
        let task = Task {
            // Nothing is begun before all signals are watched: one that came in between would end the program, and what can be
            // gone on with would not be kept.
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
