import Testing
import URLLoadingSystem

@Suite("Mailbox")
struct MailboxTests {
    @Test("only the first item after falling asleep asks for a wake-up")
    func oneWakePerBatch() throws {
        let mailbox = Mailbox(startsThread: false)
        let signal = try WakeSignal(counting: false)
        #expect(mailbox.prepareToSleep(signal))
        guard case .signal = mailbox.append(.work { _ in }) else {
            Issue.record("a sleeping loop was not woken")
            return
        }
        for _ in 0..<10 {
            guard case .nothing = mailbox.append(.work { _ in }) else {
                Issue.record("a loop that is awake was woken")
                return
            }
        }
        var batch: [MailboxItem] = []
        mailbox.take(into: &batch)
        #expect(batch.count == 11)
    }

    @Test("a loop does not fall asleep over an item")
    func noSleepOverItem() {
        let mailbox = Mailbox(startsThread: false)
        _ = mailbox.append(.work { _ in })
        #expect(!mailbox.prepareToSleep(nil))
        #expect(!mailbox.endIfEmpty())
    }

    @Test("the first item starts the thread, and the next one tries again when that failed")
    func startsThread() {
        let mailbox = Mailbox(startsThread: true)
        guard case .startThread = mailbox.append(.work { _ in }) else {
            Issue.record("the thread was not asked for")
            return
        }
        guard case .nothing = mailbox.append(.work { _ in }) else {
            Issue.record("the thread was asked for twice")
            return
        }
        #expect(mailbox.threadDidNotStart().isEmpty)
        guard case .startThread = mailbox.append(.work { _ in }) else {
            Issue.record("the thread was not asked for again")
            return
        }
        var batch: [MailboxItem] = []
        mailbox.take(into: &batch)
        #expect(batch.count == 3)
    }

    @Test("an ended mailbox refuses items")
    func endedRefuses() {
        let mailbox = Mailbox(startsThread: false)
        #expect(mailbox.endIfEmpty())
        guard case .refused = mailbox.append(.work { _ in }) else {
            Issue.record("an item was accepted")
            return
        }
    }

    @Test("a counting signal lets one waiter through per signal")
    func countingSignal() throws {
        let signal = try WakeSignal(counting: true)
        signal.signal()
        signal.signal()
        #expect(signal.wait(milliseconds: 0))
        #expect(signal.wait(milliseconds: 0))
        #expect(!signal.wait(milliseconds: 0))
    }
}
