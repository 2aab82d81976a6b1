// The owner of a background session's transfers and its program: questions that only a program can answer, tasks that
// stand still because it says so, and calling it when it is not there.

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingTestSupport
import URLLoadingTrust

@testable import URLLoading

@Suite(.timeLimit(.minutes(2))) struct TransferOwnerQuestionTests {
    /// Lets in requests with the user's password.
    private static let door: LoopbackServer.Router = { request in
        request.fields.first("Authorization") == "Basic dXNlcjpwYXNz"
            ? .text("secret") : .status(401).adding("WWW-Authenticate", "Basic realm=\"r\"")
    }

    @Test("B10.37, B10.20: a question waits for a program that can answer it")
    func challenge() async throws {
        let folder = try StateFolder()
        let directory = try folder.directory()
        let wanted = Signal()
        try await withServer(router: Self.door) { server in
            var settings = Rig.settings
            settings.hook = ["/hook"]
            let owner = try Rig.owner(directory) { $0.whenWanted = { _ in wanted.fire() } }
            let (first, _) = try await Rig.program(owner, settings: settings, answers: true)
            owner.received(.start(Rig.download(server.url("/a"))), from: first)
            owner.disconnected(first)
            await wanted.wait()
            #expect(try directory.read(settingAside: false).records.first?.wantsProgram == true)
            let (program, _) = try await Rig.program(owner, settings: settings, answers: true)
            let challenge = try await program.challenge()
            #expect(challenge.space.realm == "r")
            #expect(challenge.space.method == NSURLAuthenticationMethodHTTPBasic)
            // An answer to another question has no effect.
            owner.received(
                .answer(TransferAnswer(task: 1, challenge: challenge.number + 1, disposition: .cancel)), from: program)
            owner.received(
                .answer(
                    TransferAnswer(
                        task: 1, challenge: challenge.number, disposition: .useCredential,
                        credential: .password(user: "user", password: "pass"))), from: program)
            #expect(try await program.end(of: 1) == nil)
            #expect(try Rig.file(program.news(of: 1)) == Data("secret".utf8))
            await Rig.stop(owner)
        }
    }

    @Test("B10.37, B10.36: what a program says to the question of an earlier owner answers none of the next one's")
    func questionsOfTwoOwners() async throws {
        let folder = try StateFolder()
        let directory = try folder.directory()
        try await withServer(router: { _ in .status(401).adding("WWW-Authenticate", "Basic realm=\"r\"") }) { server in
            var numbers: [UInt64] = []
            for _ in 0..<2 {
                let owner = try Rig.owner(directory)
                let (program, _) = try await Rig.program(owner, answers: true)
                owner.received(.start(Rig.download(server.url("/a"))), from: program)
                let challenge = try await program.challenge()
                numbers.append(challenge.number)
                await Rig.stop(owner)
            }
            #expect(numbers.count == 2 && numbers.first != numbers.last)
        }
    }

    @Test("B10.37, B10.35: a question that waits is listed when its owner has gone, and asked again")
    func ownerGoesWhileItAsks() async throws {
        let folder = try StateFolder()
        let directory = try folder.directory()
        try await withServer(router: { _ in .status(401).adding("WWW-Authenticate", "Basic realm=\"r\"") }) { server in
            for _ in 0..<2 {
                let owner = try Rig.owner(directory)
                let (program, _) = try await Rig.program(owner, answers: true)
                owner.received(.start(Rig.download(server.url("/a"))), from: program)
                _ = try await program.challenge()
                owner.disconnected(program)
                await Rig.stop(owner)
                #expect(BackgroundDirectory.identifiersWithNews(in: folder.path) == ["test"])
            }
        }
    }

    @Test("B2.53, B10.20: a password for one task answers no other task of the session", arguments: [true, false])
    func passwordOnce(isOnce: Bool) async throws {
        let folder = try StateFolder()
        try await withServer(router: Self.door) { server in
            let owner = try Rig.owner(try folder.directory())
            let (program, _) = try await Rig.program(owner, answers: true)
            owner.received(.start(Rig.download(server.url("/a"))), from: program)
            let challenge = try await program.challenge()
            #expect(challenge.takesOnce)
            let credential: TransferCredential =
                isOnce ? .passwordOnce(user: "user", password: "pass") : .password(user: "user", password: "pass")
            owner.received(
                .answer(
                    TransferAnswer(
                        task: 1, challenge: challenge.number, disposition: .useCredential, credential: credential)),
                from: program)
            #expect(try await program.end(of: 1) == nil)
            owner.received(.start(Rig.download(server.url("/b"), task: 2)), from: program)
            let isAsked = try await program.first { event -> Bool? in
                switch event {
                case .challenged(2, _): true
                case .news(2, _): false
                default: nil
                }
            }
            #expect(isAsked == isOnce)
            await Rig.stop(owner)
        }
    }

    @Test("B10.37: a server whose program goes while it judges is judged by the settings")
    func programGoesWhileItJudges() async throws {
        let folder = try StateFolder()
        let (root, identity) = try CertificateFactory.server("127.0.0.1")
        var settings = Rig.settings
        settings.trust = .anchors([root.der], alsoSystem: false)
        try await withServer(.init(tls: ServerTLS(identity: identity)), router: { _ in .text("secret") }) { server in
            let owner = try Rig.owner(try folder.directory())
            let (first, _) = try await Rig.program(owner, settings: settings, judges: true)
            owner.received(.start(Rig.download(server.url("/a"))), from: first)
            let challenge = try await first.challenge()
            #expect(challenge.space.method == NSURLAuthenticationMethodServerTrust)
            owner.disconnected(first)
            // A question that was still open would come with the greeting, before any end.
            let (second, _) = try await Rig.program(owner, settings: settings)
            let isAsked = try await second.first { event -> Bool? in
                switch event {
                case .challenged: true
                case .news: false
                default: nil
                }
            }
            #expect(!isAsked)
            #expect(try await second.end(of: 1) == nil)
            #expect(try Rig.file(second.news(of: 1)) == Data("secret".utf8))
            await Rig.stop(owner)
        }
    }

    @Test("B10.37: a program that judges servers judges those, too, that the settings have judged before it came")
    func connectionBeforeJudge() async throws {
        let folder = try StateFolder()
        let (root, identity) = try CertificateFactory.server("127.0.0.1")
        var settings = Rig.settings
        settings.trust = .anchors([root.der], alsoSystem: false)
        try await withServer(.init(tls: ServerTLS(identity: identity)), router: { _ in .text("secret") }) { server in
            let owner = try Rig.owner(try folder.directory())
            let (first, _) = try await Rig.program(owner, settings: settings)
            owner.received(.start(Rig.download(server.url("/a"))), from: first)
            #expect(try await first.end(of: 1) == nil)
            owner.disconnected(first)
            let (second, _) = try await Rig.program(owner, settings: settings, judges: true)
            owner.received(.start(Rig.download(server.url("/b"), task: 2)), from: second)
            let isAsked = try await second.first { event -> Bool? in
                switch event {
                case .challenged(2, _): true
                case .news(2, _): false
                default: nil
                }
            }
            #expect(isAsked)
            await Rig.stop(owner)
        }
    }

    /// A directory in which a download from this server waits to be begun.
    private func waitingDownload(in folder: StateFolder, of server: LoopbackServer, _ clock: MovableClock) throws
        -> BackgroundDirectory
    {
        let directory = try folder.directory()
        try directory.write(
            TransferRecord(Rig.download(server.url("/a")), allowed: 60_000, isDiscretionary: false, now: clock.now))
        try directory.write(settings: Rig.settings)
        return directory
    }

    @Test(
        "B10.37: an owner that a program has started begins nothing before the program can say that it judges servers")
    func programComesFirst() async throws {
        let (folder, clock) = (try StateFolder(), MovableClock())
        let (_, identity) = try CertificateFactory.server("127.0.0.1")
        try await withServer(.init(tls: ServerTLS(identity: identity)), router: { _ in .text("secret") }) { server in
            let owner = try Rig.owner(try waitingDownload(in: folder, of: server, clock)) {
                ($0.clock, $0.greetingPatience) = (clock.clock, .seconds(5))
            }
            #expect(owner.run { $0.transfers[1] != nil && $0.transfers[1]?.attempt == nil })
            let (program, _) = try await Rig.program(owner, judges: true)
            let challenge = try await program.challenge()
            #expect(challenge.space.method == NSURLAuthenticationMethodServerTrust)
            await Rig.stop(owner)
        }
    }

    @Test("B10.37: the program that has started an owner may be dead, and is not waited for longer than five seconds")
    func programNeverComes() async throws {
        let (folder, clock) = (try StateFolder(), MovableClock())
        try await withServer(router: { _ in .text("secret") }) { server in
            let owner = try Rig.owner(try waitingDownload(in: folder, of: server, clock)) {
                ($0.clock, $0.greetingPatience) = (clock.clock, .seconds(5))
            }
            #expect(owner.run { $0.transfers[1] != nil && $0.transfers[1]?.attempt == nil })
            clock.move(milliseconds: 5000)
            #expect(owner.run { $0.transfers[1]?.attempt != nil })
            await Rig.stop(owner)
        }
    }

    /// What a program says when it has been welcomed.
    enum Words: CaseIterable, Sendable {
        case cancel
        case suspend
        case nothing
    }

    @Test(
        "B10.44, B10.45: nothing begins before the program has said what it cancels and suspends, or for five seconds",
        arguments: Words.allCases)
    func wordsFirst(words: Words) async throws {
        let (folder, clock) = (try StateFolder(), MovableClock())
        try await withServer(router: { _ in .text("secret") }) { server in
            let owner = try Rig.owner(try waitingDownload(in: folder, of: server, clock)) {
                ($0.clock, $0.greetingPatience) = (clock.clock, .seconds(5))
            }
            let program = ScribeChannel()
            owner.connected(program)
            owner.received(
                .hello(TransferHello(settings: Rig.settings, judgesServers: false, answersChallenges: false)),
                from: program)
            try await program.hear(.welcome)
            #expect(owner.run { $0.transfers[1] != nil && $0.transfers[1]?.attempt == nil })
            switch words {
            case .cancel: owner.received(.cancel(task: 1, wantsResumeData: false), from: program)
            case .suspend: owner.received(.suspend(task: 1), from: program)
            case .nothing: clock.move(milliseconds: 5000)
            }
            if words != .nothing { owner.received(.list, from: program) }
            #expect(owner.run { $0.transfers[1]?.attempt != nil } == (words == .nothing))
            await Rig.stop(owner)
            #expect(words == .nothing || server.stats.requests == 0)
        }
    }

    @Test("B10.35: the hook is called once, when all is over and no program is connected")
    func hook() async throws {
        let folder = try StateFolder()
        let directory = try folder.directory()
        let wanted = Guarded<[String]>([])
        let signal = Signal()
        let gate = ServerGate()
        try await withServer(router: { _ in .slow([.init("x", when: gate)]) }) { server in
            var settings = Rig.settings
            settings.hook = ["/hook", "arg"]
            let owner = try Rig.owner(directory) {
                $0.whenWanted = { settings in
                    wanted.value = settings.hook
                    signal.fire()
                }
            }
            let (program, _) = try await Rig.program(owner, settings: settings)
            owner.received(.start(Rig.download(server.url("/a"), task: 1)), from: program)
            owner.received(.start(Rig.download(server.url("/b"), task: 2)), from: program)
            try await program.hear(.accepted(task: 2))
            owner.disconnected(program)
            gate.open()
            await signal.wait()
            #expect(wanted.value == ["/hook", "arg"])
            #expect(try directory.read(settingAside: false).records.map(\.events.count) == [3, 3])
            #expect(signal.count == 1)
            #expect(BackgroundDirectory.identifiersWithNews(in: folder.path) == ["test"])
            await Rig.stop(owner)
        }
    }

    @Test("B10.35, B10.37: the hook is not called while the program that has started the owner is on its way")
    func hookAndProgramOnItsWay() async throws {
        let (folder, clock, wanted) = (try StateFolder(), MovableClock(), Signal())
        let directory = try folder.directory()
        var record = TransferRecord(
            Rig.download("http://127.0.0.1:9/"), allowed: nil, isDiscretionary: false, now: clock.now)
        record.state = .over
        record.end(nil)
        try directory.write(record)
        var settings = Rig.settings
        settings.hook = ["/hook"]
        try directory.write(settings: settings)
        let owner = try Rig.owner(directory) {
            ($0.clock, $0.greetingPatience) = (clock.clock, .seconds(5))
            $0.whenWanted = { _ in wanted.fire() }
        }
        #expect(owner.run { $0.transfers.count } == 1)
        #expect(wanted.count == 0)
        clock.move(milliseconds: 5000)
        #expect(owner.run { $0.transfers.count } == 1)
        #expect(wanted.count == 1)
        await Rig.stop(owner)
    }

    @Test("B10.22: a suspended task stands still, and goes on when it is resumed")
    func suspension() async throws {
        let folder = try StateFolder()
        let gate = ServerGate()
        try await withServer(router: { _ in .slow([.init("x"), .init("y", when: gate)]) }) { server in
            let owner = try Rig.owner(try folder.directory())
            let program = try await Rig.downloading(server.url("/a"), by: owner)
            owner.received(.suspend(task: 1), from: program)
            owner.received(.list, from: program)
            let tasks = try await program.tasks()
            #expect(tasks.first?.isSuspended == true)
            gate.open()
            owner.received(.label(task: 1, "name"), from: program)
            owner.received(.priority(task: 1, 1), from: program)
            owner.received(.resume(task: 1), from: program)
            #expect(try await program.end(of: 1) == nil)
            #expect(try Rig.file(program.news(of: 1)) == Data("xy".utf8))
            await Rig.stop(owner)
        }
    }

    @Test("B10.45: a task that an earlier run has suspended goes on where the program begins it before the greeting")
    func begunWhileSuspended() async throws {
        let folder = try StateFolder()
        let gate = ServerGate()
        try await withServer(router: { _ in .slow([.init("x"), .init("y", when: gate)]) }) { server in
            let owner = try Rig.owner(try folder.directory())
            let first = try await Rig.downloading(server.url("/a"), by: owner)
            owner.received(.suspend(task: 1), from: first)
            owner.disconnected(first)
            let (second, tasks) = try await Rig.program(owner)
            #expect(tasks.map(\.isSuspended) == [true])
            owner.received(.start(Rig.download(server.url("/a"))), from: second)
            try await second.hear(.accepted(task: 1))
            #expect(owner.run { $0.transfers[1]?.attempt?.state } == .running)
            gate.open()
            #expect(try await second.end(of: 1) == nil)
            #expect(try Rig.file(second.news(of: 1)) == Data("xy".utf8))
            #expect(server.stats.requests == 1)
            await Rig.stop(owner)
        }
    }

    @Test(
        "B10.37, B1.36: a task that is suspended while it asks goes on with the answer and when it is resumed, in any order"
    )
    func suspendedWhileAsking() async throws {
        for answersFirst in [true, false] {
            let folder = try StateFolder()
            try await withServer(router: Self.door) { server in
                let owner = try Rig.owner(try folder.directory())
                let (program, _) = try await Rig.program(owner, answers: true)
                owner.received(.start(Rig.download(server.url("/a"))), from: program)
                let challenge = try await program.challenge()
                let answer = TransferCommand.answer(
                    TransferAnswer(
                        task: 1, challenge: challenge.number, disposition: .useCredential,
                        credential: .password(user: "user", password: "pass")))
                owner.received(.suspend(task: 1), from: program)
                for command in answersFirst ? [answer, .resume(task: 1)] : [.resume(task: 1), answer] {
                    owner.received(command, from: program)
                }
                #expect(try await program.end(of: 1) == nil)
                await Rig.stop(owner)
            }
        }
    }
}
