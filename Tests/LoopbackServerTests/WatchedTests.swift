// The tests' own means of waiting: what never comes ends with the test that waits for it.

import Testing
import URLLoadingTestSupport

@Suite(.timeLimit(.minutes(1))) struct WatchedTests {
    @Test("A wait ends with its condition, before or after")
    func conditions() async {
        let value = Watched(1)
        #expect(await value.wait { $0 == 1 })
        async let later = value.wait { $0 == 3 }
        for _ in 0..<2 { value.change { $0 += 1 } }
        #expect(await later)
        let signal = Signal()
        async let twice: Void = signal.wait(times: 2)
        signal.fire()
        signal.fire()
        await twice
        #expect(signal.count == 2)
    }

    @Test("A wait ends where its task is cancelled, before it or during it")
    func cancellation() async {
        let value = Watched(1)
        let isWaiting = Signal()
        let task = Task {
            isWaiting.fire()
            return await value.wait { $0 == 2 }
        }
        await isWaiting.wait()
        task.cancel()
        #expect(await task.value == false)
        let second = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await value.wait { $0 == 2 }
        }
        #expect(await second.value == false)
        // No waiter is left that could be told twice.
        value.change { $0 = 2 }
        #expect(await value.wait { $0 == 2 })
    }
}
