// Requests that wait for a network (behaviour B6.15 to B6.20).

import Testing
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTestSupport
import URLLoadingWire

@Suite("Waiting for connectivity")
struct ConnectivityTests {
    private final class FakeMonitor: ConnectivityMonitor {
        var hasInterface = false
        private(set) var starts = 0
        private var changed: (() -> Void)?
        var isWatching: Bool { changed != nil }

        func start(_ changed: @escaping () -> Void) {
            starts += 1
            self.changed = changed
        }

        func stop() { changed = nil }

        func change() { changed?() }
    }

    /// Carries the monitor through the configuration's `@Sendable` closure; all of it is on the test's thread.
    private final class MonitorBox: Sendable {
        nonisolated(unsafe) let monitor = FakeMonitor()  // Only ever used on the test's thread.
    }

    private let box = MonitorBox()
    private var monitor: FakeMonitor { box.monitor }

    private func makeRig(configure: (inout EngineConfiguration) -> Void = { _ in }) -> EngineRig {
        EngineRig { [box] in
            $0.makeConnectivityMonitor = { _ in box.monitor }
            configure(&$0)
        }
    }

    /// ENETUNREACH, ENETDOWN, EHOSTUNREACH, ECONNREFUSED.
    private static let unreachable: Int32 = 101
    private static let down: Int32 = 100
    private static let noRoute: Int32 = 113
    private static let refused: Int32 = 111

    private func cutOff(_ rig: EngineRig, errno: Int32 = unreachable) {
        rig.network.setName("host.test", .addresses(["10.0.0.9"]))
        rig.network.setAddress("10.0.0.9:80", .fail(errno: errno))
    }

    @Test(
        "B6.15, B6.20: a request without a way to its host waits, and goes on when the network comes",
        arguments: [unreachable, down, noRoute])
    func waitsAndGoesOn(errno: Int32) {
        let rig = makeRig()
        cutOff(rig, errno: errno)
        let journal = rig.submit(waitsForConnectivity: true)
        rig.settle()
        #expect(journal.waits == 1 && !journal.hasEnded)
        rig.serve("host.test", [.receiveHead, .respond("hello")])
        monitor.change()
        rig.settle()
        #expect(journal.text == "hello" && journal.error == nil)
        #expect(journal.waits == 1)
        #expect(!monitor.isWatching, "nothing waits any more")
        rig.expectClean()
    }

    @Test(
        "B12.7, B12.12: a request that waits for the network has the dates of its attempt, until it gets a connection")
    func dates() throws {
        let rig = makeRig { $0.maximumConnectionsPerHost = 1 }
        cutOff(rig)
        let lost = rig.submit(waitsForConnectivity: true)
        let found = rig.submit(waitsForConnectivity: true)
        rig.settle()
        lost.handle?.cancel()
        rig.settle()
        let attempt = try #require(lost.outcome?.timelines.last)
        #expect(attempt.lookupEnd != nil && attempt.connectStart != nil && attempt.connectEnd == nil)
        rig.serve("host.test", [.receiveHead, .respond("other"), .receiveHead, .respond("hello")])
        // What waits goes on with the connection that another load has opened.
        let other = rig.submit()
        rig.settle()
        let timeline = try #require(found.outcome?.timelines.last)
        #expect(other.text == "other" && found.text == "hello" && timeline.reused)
        #expect(timeline.lookupStart == nil && timeline.connectStart == nil)
        rig.expectClean()
    }

    @Test("B6.15, B6.17: a stream waits for the network, and a call's own time runs on meanwhile")
    func stream() throws {
        let rig = makeRig()
        cutOff(rig)
        let origin = try #require(Origin(scheme: .http, host: "host.test"))
        let notes = Notes()
        var request = StreamRequest(origin: origin, resourceDeadline: rig.reactor.elapsed + .seconds(1000)) { _, _ in
            WaitingReceiver(notes)
        }
        request.waitsForConnectivity = true
        let handle = rig.core.open(request)
        func read() {
            handle.perform(
                .read(least: 5, most: 5, timeout: .seconds(7)) { result in
                    if case .success(let piece) = result { notes.note(String(decoding: piece.bytes, as: UTF8.self)) }
                }, late: { _ in notes.note("late") })
        }
        read()
        rig.advance(.seconds(5))
        #expect(notes.all.allSatisfy { $0 == "waits" } && monitor.isWatching)
        rig.serve("host.test", [.send("hello"), .receiveEnd])
        monitor.change()
        rig.settle()
        #expect(notes.all.last == "hello")
        handle.cancel()
        rig.settle()
        #expect(!monitor.isWatching && notes.all.last == "finished")
        rig.expectClean()
    }

    @Test("B6.15, B6.17: an FTP transfer waits for the network, and no idle time runs meanwhile")
    func ftp() throws {
        let rig = makeRig()
        rig.network.setName("host.test", .addresses(["10.0.0.9"]))
        rig.network.setAddress("10.0.0.9:21", .fail(errno: Self.unreachable))
        let server = try #require(Origin(scheme: .http, host: "host.test", port: 21))
        let notes = Notes()
        var request = FTPRequest(
            server: server, job: FTPJob(path: try FTPPath(percentEncoded: "/f")), idleTimeout: .seconds(5)
        ) { _, _ in WaitingReceiver(notes) }
        request.waitsForConnectivity = true
        let handle = rig.core.submit(ftp: request)
        rig.advance(.seconds(60))
        let told = notes.all.count
        #expect(notes.all.allSatisfy { $0 == "waits" } && monitor.isWatching)
        monitor.change()
        rig.settle()
        #expect(notes.all.count == told + 1, "the change did not help")
        rig.network.setAddress("10.0.0.9:21", .hang)
        monitor.change()
        rig.advance(.seconds(4))
        #expect(notes.all.count == told + 1)
        rig.advance(.seconds(2))
        #expect(notes.all.count == told + 2 && notes.all.last == "finished", "the idle time runs again")
        #expect(!monitor.isWatching)
        handle.cancel()
        rig.expectClean()
    }

    @Test("B6.20: an address of a family that this machine cannot use does not keep a request from waiting")
    func otherFamily() {
        // EADDRNOTAVAIL, EAFNOSUPPORT, what says something about the host, and want of a local port.
        let unreachable = Self.unreachable
        for (errno, other, waits) in [
            (99, unreachable, true), (97, unreachable, true), (Self.refused, unreachable, false),
            (unreachable, 99, false),
        ] as [(Int32, Int32, Bool)] {
            let rig = makeRig()
            rig.network.setName("host.test", .addresses(["2001:db8::1", "10.0.0.9"]))
            rig.network.setAddress("[2001:db8::1]:80", .fail(errno: errno))
            rig.network.setAddress("10.0.0.9:80", .fail(errno: other))
            let journal = rig.submit(waitsForConnectivity: true)
            rig.settle()
            #expect(journal.hasEnded != waits && (journal.waits > 0) == waits, "\(errno), \(other)")
            rig.expectClean()
        }
    }

    @Test("B6.15: without the wish to wait, the request fails at once and nothing is watched")
    func failsOtherwise() {
        let rig = makeRig()
        cutOff(rig)
        let journal = rig.submit()
        rig.settle()
        #expect(journal.hasEnded && journal.error != nil)
        #expect(journal.waits == 0 && monitor.starts == 0)
        rig.expectClean()
    }

    @Test("B6.15, B6.20: names that cannot be looked up: at once when offline, only temporary failures when online")
    func names() {
        for (reason, isOnline, waits) in [
            (ResolverFailure.Reason.temporary, true, true), (.temporary, false, true),
            (.noSuchHost, false, true), (.noSuchHost, true, false), (.failed, false, true), (.failed, true, false),
            (.notAName, false, false), (.notAName, true, false),
        ] {
            let rig = makeRig()
            monitor.hasInterface = isOnline
            rig.network.setName("host.test", .fails(reason))
            let journal = rig.submit(waitsForConnectivity: true)
            rig.settle()
            #expect(journal.hasEnded != waits, "\(reason), online: \(isOnline)")
            journal.handle?.cancel()
            rig.settle()
            rig.expectClean()
        }
    }

    @Test("B6.19: a host that refuses does not count as a missing network")
    func refusedIsNoLack() {
        let rig = makeRig()
        cutOff(rig, errno: Self.refused)
        let journal = rig.submit(waitsForConnectivity: true)
        rig.settle()
        #expect(journal.hasEnded && journal.waits == 0)
        rig.expectClean()
    }

    @Test("B6.9, B6.17: while it waits the idle time stands still and the resource time runs")
    func deadlines() {
        let rig = makeRig()
        cutOff(rig)
        let journal = rig.submit(
            idleTimeout: .seconds(5), resourceTimeout: .seconds(100), waitsForConnectivity: true)
        rig.advance(.seconds(99))
        #expect(!journal.hasEnded)
        rig.advance(.seconds(2))
        guard case .resourceTimeout(_, phase: .waitingForConnectivity, _, .connect?) = journal.error else {
            Issue.record("\(String(describing: journal.error))")
            return
        }
        #expect("\(String(describing: journal.error))".contains("unreachable"), "B17.4: the last attempt's reason")
        #expect(!monitor.isWatching)
        rig.expectClean()
    }

    @Test("A change that does not help leaves the request waiting; a refusal after a change is an error (B6.19)")
    func changesThatDoNotHelp() {
        let rig = makeRig()
        cutOff(rig)
        let journal = rig.submit(waitsForConnectivity: true)
        rig.settle()
        for _ in 0..<3 {
            monitor.change()
            rig.settle()
        }
        #expect(!journal.hasEnded && monitor.starts == 1)
        cutOff(rig, errno: Self.refused)
        monitor.change()
        rig.settle()
        #expect(journal.hasEnded && journal.error != nil)
        rig.expectClean()
    }

    @Test("B6.41: what no message of the kernel tells of is found by tries after 1 s, 2 s and so on up to a minute")
    func triesFromTimeToTime() {
        let rig = makeRig()
        monitor.hasInterface = true
        rig.network.setName("host.test", .fails(.temporary))
        let journal = rig.submit(idleTimeout: .seconds(5), waitsForConnectivity: true)
        rig.settle()
        // Told with each attempt that leaves it waiting.
        var waits = 1
        #expect(journal.waits == waits)
        for pause in [1, 2, 4, 8, 16, 32, 60, 60] {
            rig.advance(.seconds(pause) - .milliseconds(1))
            #expect(journal.waits == waits)
            rig.advance(.milliseconds(1))
            waits += 1
            #expect(journal.waits == waits)
        }
        monitor.change()
        rig.settle()
        waits += 1
        #expect(journal.waits == waits)
        rig.serve("host.test", [.receiveHead, .respond("hello")])
        rig.advance(.milliseconds(999))
        #expect(journal.waits == waits && !journal.hasEnded)
        rig.advance(.milliseconds(1))
        #expect(journal.text == "hello" && journal.error == nil)
        rig.expectClean()
    }

    @Test("B6.41: a load that begins to wait is tried again after a second, however long others have waited")
    func tryOfANewOne() {
        let rig = makeRig()
        cutOff(rig)
        let old = rig.submit(waitsForConnectivity: true)
        rig.advance(.seconds(130))
        rig.network.setName("other.test", .fails(.temporary))
        let new = rig.submit(host: "other.test", waitsForConnectivity: true)
        rig.settle()
        rig.serve("host.test", [.receiveHead, .respond("hello")])
        rig.serve("other.test", [.receiveHead, .respond("hello")])
        rig.advance(.seconds(1))
        #expect(new.text == "hello" && old.text == "hello")
        rig.expectClean()
    }

    @Test("B6.41: of many that wait for one place one is tried, and all go on when it gets there or fails otherwise")
    func oneTriesForAll() {
        for errno in [nil, Self.refused] {
            let rig = makeRig()
            cutOff(rig)
            let journals = (0..<20).map { _ in rig.submit(waitsForConnectivity: true) }
            rig.settle()
            #expect(journals.allSatisfy { $0.waits > 0 && !$0.hasEnded })
            let dialled = rig.network.dialled.count
            rig.advance(.seconds(1))
            #expect(rig.network.dialled.count == dialled + 1)
            if let errno {
                cutOff(rig, errno: errno)
            } else {
                rig.serve("host.test", (0..<20).flatMap { _ in [.receiveHead, .respond("hello")] })
            }
            rig.advance(.seconds(2))
            #expect(journals.allSatisfy { $0.hasEnded && ($0.error == nil) == (errno == nil) })
            rig.expectClean()
        }
    }

    @Test("B1.16, B6.41: where all are cancelled the end of one that tries to connect has no other try, too")
    func allCancelled() {
        let rig = makeRig()
        cutOff(rig)
        let waiting = rig.submit(waitsForConnectivity: true)
        rig.settle()
        rig.network.setName("host.test", .addresses(["10.0.0.9"], delay: .milliseconds(300)))
        let tried = rig.submit(waitsForConnectivity: true)
        rig.advance(.milliseconds(400))
        #expect(waiting.waits == 1 && tried.waits == 0, "its first attempt has failed, and the second is under way")
        let dialled = rig.network.dialled.count
        rig.core.cancelWaiting()
        rig.advance(.milliseconds(400))
        #expect(waiting.hasEnded && tried.hasEnded && rig.network.dialled.count == dialled)
        rig.expectClean()
    }

    @Test("B6.41: of streams that are cancelled one after the other, one of which tries to connect, no other tries")
    func cancelledOneByOne() throws {
        let rig = makeRig()
        cutOff(rig)
        let origin = try #require(Origin(scheme: .http, host: "host.test"))
        let notes = Notes()
        let handles = (0..<5).map { _ in
            var request = StreamRequest(origin: origin, resourceDeadline: rig.reactor.elapsed + .seconds(1000)) {
                _, _ in
                WaitingReceiver(notes)
            }
            request.waitsForConnectivity = true
            return rig.core.open(request)
        }
        for handle in handles { handle.perform(.read(least: 1, most: 1, timeout: nil) { _ in }, late: { _ in }) }
        rig.settle()
        rig.network.setAddress("10.0.0.9:80", .hang)
        let dialled = rig.network.dialled.count
        rig.advance(.seconds(1))
        #expect(rig.network.dialled.count == dialled + 1, "one tries for all")
        for handle in handles { handle.cancel() }
        rig.settle()
        #expect(rig.network.dialled.count == dialled + 1)
        #expect(notes.all.filter { $0 == "finished" }.count == 5 && !monitor.isWatching)
        rig.expectClean()
    }

    @Test("B6.41: what waits, and is tried while there is no descriptor, goes on waiting", arguments: [EMFILE, ENFILE])
    func triedDuringShortage(errno: Int32) {
        let rig = makeRig()
        cutOff(rig)
        let journals = (0..<3).map { _ in rig.submit(waitsForConnectivity: true) }
        rig.settle()
        cutOff(rig, errno: errno)
        rig.advance(.seconds(4))
        #expect(journals.allSatisfy { !$0.hasEnded && $0.waits > 0 })
        // One that has not waited is told, as ever.
        let late = rig.submit(waitsForConnectivity: true)
        rig.settle()
        if case .localResource? = late.error {} else { Issue.record("\(String(describing: late.error))") }
        rig.serve("host.test", (0..<3).flatMap { _ in [.receiveHead, .respond("hello")] })
        rig.advance(.seconds(60))
        #expect(journals.allSatisfy { $0.text == "hello" })
        rig.expectClean()
    }

    @Test("B6.41: one that is cancelled or suspended while it is tried holds up none of the others")
    func triedOneGoes() {
        for cancels in [true, false] {
            let rig = makeRig()
            cutOff(rig)
            let first = rig.submit(waitsForConnectivity: true)
            let second = rig.submit(waitsForConnectivity: true)
            rig.settle()
            rig.network.setAddress("10.0.0.9:80", .hang)
            rig.advance(.seconds(1))
            if cancels { first.handle?.cancel() } else { first.handle?.suspend() }
            rig.serve("host.test", [.receiveHead, .respond("hello")])
            rig.advance(.seconds(2))
            #expect(second.text == "hello")
            rig.expectClean()
        }
    }

    @Test("A change while an attempt is under way is not missed")
    func changeDuringAttempt() {
        let rig = makeRig()
        rig.network.setName("host.test", .addresses(["10.0.0.9"]))
        rig.network.setAddress("10.0.0.9:80", .fail(errno: Self.unreachable, delay: .seconds(1)))
        let journal = rig.submit(waitsForConnectivity: true)
        // The first attempt starts the watch, the second is under way when the network comes.
        rig.advance(.milliseconds(1500))
        #expect(monitor.isWatching && journal.waits == 0)
        monitor.change()
        rig.advance(.milliseconds(600))
        #expect(journal.waits == 0, "the third attempt is under way")
        rig.serve("host.test", [.receiveHead, .respond("hello")])
        rig.advance(.seconds(1))
        monitor.change()
        rig.settle()
        #expect(journal.text == "hello")
        rig.expectClean()
    }

    @Test("A request that waits can be cancelled, suspended and resumed")
    func steering() {
        let rig = makeRig()
        cutOff(rig)
        let first = rig.submit(waitsForConnectivity: true)
        let second = rig.submit(waitsForConnectivity: true)
        rig.settle()
        first.handle?.cancel()
        second.handle?.suspend()
        rig.settle()
        #expect(first.error.isCancelled && first.ends == 1)
        rig.serve("host.test", [.receiveHead, .respond("hello")])
        monitor.change()
        rig.settle()
        #expect(!second.hasEnded, "it is suspended")
        second.handle?.resume()
        rig.settle()
        #expect(second.text == "hello")
        #expect(!monitor.isWatching)
        rig.expectClean()
    }

    @Test("B6.18: a connection that is lost after it stood is an error, not a reason to wait")
    func lostLater() {
        let rig = makeRig()
        rig.serve("host.test", [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe"), .reset])
        let journal = rig.submit(waitsForConnectivity: true)
        rig.settle()
        #expect(journal.hasEnded && journal.error != nil && journal.waits == 0)
        rig.expectClean()
    }
}

/// Waiting for connectivity on a real loop, in a network that at first has no interface.
@Suite("Waiting for connectivity, in a network of its own")
struct NamespaceTests {
    /// What the loop keeps between two steps of the test.
    private final class Place {
        var listener: Listener?
        var peer: ScriptedPeer?
    }

    /// Collects one response, and says when it begins to wait.
    private final class Waiter: TransactionReceiver {
        private let waits: () -> Void
        private let done: (EngineError?, String) -> Void
        private var body: [UInt8] = []

        init(waits: @escaping () -> Void, done: @escaping (EngineError?, String) -> Void) {
            self.waits = waits
            self.done = done
        }

        func waitsForConnectivity() { waits() }
        func received(informational head: ResponseHead) {}
        func received(head: ResponseHead, framing: BodyFraming, decoding: Bool) -> ReceiverDemand { .more }
        func received(body piece: BodyPiece) -> ReceiverDemand {
            body += piece.bytes
            return .more
        }
        func sent(bodyBytes: Int64) {}
        func finished(_ outcome: TransactionOutcome) { done(outcome.error, String(decoding: body, as: UTF8.self)) }
    }

    @Test(
        "B6.15, B6.16, B6.20: a request waits while no interface is up, and goes on when one comes",
        .enabled(if: NetworkNamespace.isAllowed, "needs the right to make a network namespace"))
    func realNetwork() async throws {
        let loops = LoopGroup(count: 1, name: "namespace")
        let loop = loops.next()
        let key = ResidentKey<Place>()
        let origin = try #require(Origin(scheme: .http, host: "127.0.0.1", port: 8099))
        var head = RequestHead(method: "GET", target: "/")
        head.fields.append("Host", origin.hostField)
        let result = await withHandover { (continuation: Handover<String, Never>) in
            loop.run { reactor in
                // The loop's thread moves; a listener on every address can be made before there is one.
                guard NetworkNamespace.enter(), let any = SocketAddress(literal: "0.0.0.0", port: 8099) else {
                    return continuation.resume(returning: "no namespace")
                }
                let place = Place()
                reactor.setResident(key, place)
                place.listener = try? Listener(reactor: reactor, address: any)
                place.listener?.onAccept = { [unowned place] stream in
                    place.peer = ScriptedPeer(stream, on: reactor, [.receiveHead, .respond("hello")])
                }
            }
            let engine = Engine(configuration: EngineConfiguration(), loops: [loop])
            engine.submit(
                TransactionRequest(origin: origin, head: head, waitsForConnectivity: true) { _, _ in
                    Waiter(waits: { #expect(NetworkNamespace.bringLoopbackUp()) }) { error, text in
                        _ = engine  // Held until here.
                        continuation.resume(returning: error.map { "\($0)" } ?? text)
                    }
                })
        }
        #expect(result == "hello")
        loop.run { $0.setResident(key, nil) }
        loops.stop()
    }
}

/// Writes down that it waits, and that it ends.
private final class WaitingReceiver: StreamReceiver, FTPReceiver {
    let beginning = LoadBeginning.atOnce
    private let notes: Notes

    init(_ notes: Notes) { self.notes = notes }

    var answersQuestions: Bool { false }
    func asked(_ question: ConnectionQuestion) {}
    func waitsForConnectivity() { notes.note("waits") }

    func moved(received: Int, sent: Int) {}
    func readClosed() {}
    func writeClosed() {}
    func captured(_ connection: CapturedConnection) {}
    func finished(_ failure: StreamFailure?) { notes.note("finished") }

    func askedForCredential(refusals: Int) {}
    func received(head: FTPHead) -> ReceiverDemand { .more }
    func received(body piece: BodyPiece) -> ReceiverDemand { .more }
    func sent(bodyBytes: Int64) {}
    func moved() {}
    func finished(_ error: EngineError?) { notes.note("finished") }
}
