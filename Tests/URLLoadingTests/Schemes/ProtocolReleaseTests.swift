// When what a custom protocol has given goes: its bytes and responses may be objects of the program's, which
// call the task at their end.

import Foundation
import Testing
import URLLoading
import URLLoadingTestSupport

@Suite("Custom protocols: the end of what they give", .endsSessions, .timeLimit(.minutes(5)))
struct ProtocolReleaseTests {
    /// A task that is called by what its load has let go of.
    private final class Caller: Sendable {
        private let task = Guarded<URLSessionTask?>(nil)
        let gone = Signal()

        /// From now on this task is called.
        func call(_ task: URLSessionTask) { self.task.value = task }

        func callNow() {
            if let task = task.value { task.priority = URLSessionTask.highPriority }
            gone.fire()
        }

        /// Calls it no more: what the task still has would keep it for ever.
        func forget() {
            let last = task.value
            task.value = nil
            // Not by the line above, which holds a lock that `callNow` wants.
            withExtendedLifetime(last) {}
        }

        /// A hundred bytes that call the task when they are let go of.
        func bytes() -> Data {
            let count = 100
            let memory = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 1)
            memory.initializeMemory(as: UInt8.self, repeating: 1, count: count)
            return Data(
                bytesNoCopy: memory, count: count,
                deallocator: .custom { [self] memory, _ in
                    callNow()
                    memory.deallocate()
                })
        }
    }

    /// A response that calls the task in its deinit.
    private final class CallingResponse: URLResponse, @unchecked Sendable {
        // Safe to share: it cannot change.
        private let caller: Caller

        init(_ url: URL, _ caller: Caller) {
            self.caller = caller
            super.init(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
        }

        required init?(coder: NSCoder) { return nil }

        deinit { caller.callNow() }
    }

    /// What the handler of a task gets that the caller calls.
    private func load(_ url: URL, _ caller: Caller) async -> Data? {
        let session = protocolSession()
        return await withHandover { (continuation: Handover<Data?, Never>) in
            let task = session.dataTask(with: url) { data, _, _ in continuation.resume(returning: data) }
            caller.call(task)
            task.resume()
        }
    }

    @Test("B14.44: bytes that are joined to a whole body may call the task at their end")
    func joined() async throws {
        let caller = Caller()
        let script = ProtocolScript { held in
            held.respond()
            for _ in 0..<3 { held.load(caller.bytes()) }
            held.finish()
        }
        let body = await load(try script.url(), caller)
        #expect(body == Data(repeating: 1, count: 300))
        await caller.gone.wait(times: 3)
    }

    @Test("B14.44: bytes that have waited for a suspended task may call it at their end")
    func waited() async throws {
        let caller = Caller()
        let script = ProtocolScript { _ in }
        let (session, url) = (protocolSession(), try script.url())
        let saved = Guarded<Data?>(nil)
        let ended = Signal()
        let task = session.downloadTask(with: url) { file, _, _ in
            saved.value = file.flatMap { try? Data(contentsOf: $0) }
            ended.fire()
        }
        caller.call(task)
        task.resume()
        await script.started.wait()
        task.suspend()
        for held in script.instances.value {
            held.respond()
            for _ in 0..<3 { held.load(caller.bytes()) }
            held.finish()
        }
        #expect(caller.gone.count == 0)
        task.resume()
        await ended.wait()
        #expect(saved.value == Data(repeating: 1, count: 300))
        await caller.gone.wait(times: 3)
    }

    @Test("B14.42: bytes that a cancelled task does not get any more may call it at their end")
    func untold() async throws {
        let caller = Caller()
        let script = ProtocolScript { _ in }
        let (session, url) = (protocolSession(), try script.url())
        let ended = Signal()
        let task = session.dataTask(with: url) { _, _, _ in ended.fire() }
        caller.call(task)
        task.resume()
        await script.started.wait()
        task.suspend()
        for held in script.instances.value {
            held.respond()
            for _ in 0..<3 { held.load(caller.bytes()) }
        }
        #expect(caller.gone.count == 0)
        task.cancel()
        #expect(caller.gone.count == 3)
        await ended.wait()
    }

    @Test("B14.43: a response after which another one comes may call the task at its end")
    func replaced() async throws {
        let caller = Caller()
        let script = ProtocolScript { held in
            guard let url = held.request.url else { return }
            for _ in 0..<2 { held.respond(CallingResponse(url, caller)) }
            held.load("x")
            held.finish()
        }
        let body = await load(try script.url(), caller)
        #expect(body == Data("x".utf8))
        await caller.gone.wait()
        caller.forget()
    }
}
