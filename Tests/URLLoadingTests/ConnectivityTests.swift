// waitsForConnectivity (behaviour B6.15 to B6.20). The network that is not there is a multicast address: no TCP
// connection can be opened to one, and the system says ENETUNREACH on every machine. How tasks go on when the network
// comes is EngineTests' matter.

import Foundation
import Testing
import URLLoading

@Suite("Waiting for connectivity")
struct ConnectivityTests {
    private static func configuration(waits: Bool) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.default
        configuration.waitsForConnectivity = waits
        configuration.hostOverrides = ["nowhere.test": "224.0.0.1"]
        return configuration
    }

    private static func url() throws -> URL { try #require(URL(string: "http://nowhere.test/")) }

    @Test(
        "B6.15, B17.20: the flag is off unless set, and the task then fails with −1009", arguments: Scribe.Form.allCases
    )
    func failsAtOnce(form: Scribe.Form) async throws {
        #expect(!URLSessionConfiguration.default.waitsForConnectivity)
        let scribe = Scribe()
        let session = URLSession(
            configuration: Self.configuration(waits: false), delegate: scribe.delegate(form), delegateQueue: nil)
        session.dataTask(with: try Self.url()).resume()
        await scribe.transcript.completed.wait()
        #expect(scribe.transcript.calls == ["created 1", "metrics 1", "complete -1009"])
        session.invalidateAndCancel()
    }

    @Test(
        "B6.16, B6.17: the delegate hears that a task waits for a network; the resource time-out ends the wait",
        arguments: Scribe.Form.allCases)
    func resourceTimeout(form: Scribe.Form) async throws {
        let configuration = Self.configuration(waits: true)
        configuration.timeoutIntervalForResource = 6
        let scribe = Scribe()
        let session = URLSession(configuration: configuration, delegate: scribe.delegate(form), delegateQueue: nil)
        let task = session.dataTask(with: try Self.url())
        task.resume()
        await scribe.transcript.completed.wait()
        #expect(scribe.transcript.calls == ["created 1", "waiting", "metrics 1", "complete -1001"])
        #expect(task.error?.localizedDescription.contains("waiting for a network") == true)
        // B17.4: and why.
        #expect(task.error?.localizedDescription.contains("Network is unreachable") == true)
        let cause = (task.error as? URLError)?.userInfo[NSUnderlyingErrorKey] as? any Error
        #expect(cause.map { ($0 as NSError).code } == URLError.Code.notConnectedToInternet.rawValue)
        session.invalidateAndCancel()
    }

    @Test(
        "B6.16, B6.17: stream tasks and FTP loads wait too, and the delegate hears of it once",
        arguments: ["ftp", "stream"])
    func others(kind: String) async throws {
        let configuration = Self.configuration(waits: true)
        configuration.timeoutIntervalForResource = 7
        configuration.timeoutIntervalForRequest = 6
        let scribe = Scribe()
        let session = URLSession(configuration: configuration, delegate: scribe.delegate(.handler), delegateQueue: nil)
        let task =
            kind == "ftp"
            ? session.dataTask(with: try #require(URL(string: "ftp://nowhere.test/f")))
            : session.streamTask(withHostName: "nowhere.test", port: 80)
        task.resume()
        await scribe.transcript.completed.wait()
        let calls = scribe.transcript.calls.filter { !$0.hasPrefix("metrics") }
        #expect(calls == ["created 1", "waiting", "complete -1001"])
        session.invalidateAndCancel()
    }

    @Test(
        "B6.16: a task that waits can be cancelled; handlers and async calls wait too (B1.78)",
        arguments: Scribe.Form.allCases)
    func cancelled(form: Scribe.Form) async throws {
        let waiting = Signal()
        let scribe = Scribe { call, _, _ in if call == "waiting" { waiting.fire() } }
        let session = URLSession(
            configuration: Self.configuration(waits: true), delegate: scribe.delegate(form), delegateQueue: nil)
        let ended = Signal()
        let url = try Self.url()
        let task = session.dataTask(with: url) { _, _, error in
            if (error as? URLError)?.code == .cancelled { ended.fire() }
        }
        task.resume()
        let call = Task { try await session.data(from: url) }
        await waiting.wait(times: 2)
        #expect(task.state == .running)
        task.cancel()
        call.cancel()
        await ended.wait()
        #expect(await codeThrown { _ = try await call.value } == .cancelled)
        session.finishTasksAndInvalidate()
        await scribe.transcript.invalidated.wait()
        #expect(scribe.transcript.calls.count { $0 == "waiting" } == 2)
    }

    @Test("B17.54: a task is cancelled inside the delegate's call that says it waits", arguments: Scribe.Form.allCases)
    func cancelledInside(form: Scribe.Form) async throws {
        let scribe = Scribe { call, _, task in if call == "waiting" { task.cancel() } }
        let session = URLSession(
            configuration: Self.configuration(waits: true), delegate: scribe.delegate(form), delegateQueue: nil)
        session.dataTask(with: try Self.url()).resume()
        session.finishTasksAndInvalidate()
        await scribe.transcript.invalidated.wait()
        #expect(scribe.transcript.calls == ["created 1", "waiting", "metrics 1", "complete -999", "invalid nil"])
    }

    @Test("B6.19: a refused connection fails the task, also where tasks wait for connectivity")
    func refused() async throws {
        let session = URLSession(configuration: Self.configuration(waits: true))
        let code = await codeThrown {
            _ = try await session.data(from: try #require(URL(string: "http://127.0.0.1:1/")))
        }
        #expect(code == .cannotConnectToHost)
    }
}
