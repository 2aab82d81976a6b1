// What a progress shows of a task's counts, whatever they are.

import Testing
import URLLoadingPolicy

@Suite("Progress units")
struct ProgressUnitsTests {
    private func counts(
        received: Int64 = 0, sent: Int64 = 0, toReceive: Int64 = 0, toSend: Int64 = 0
    ) -> ProgressUnits.Counts {
        ProgressUnits.Counts(received: received, sent: sent, expectedToReceive: toReceive, expectedToSend: toSend)
    }

    @Test("B1.52: lengths that no number can hold the sum of are shown as the largest number")
    func largestLengths() {
        var units = ProgressUnits()
        units.follow(counts(sent: 5, toReceive: .max, toSend: 5), .answered)
        #expect(units.total == .max && units.completed == 5)
        units.follow(counts(received: .max, sent: 5, toReceive: .max, toSend: 5), .answered)
        #expect(units.total == .max && units.completed == .max - 1)
        units.follow(counts(received: .max, sent: .max, toReceive: .max, toSend: .max), .complete)
        #expect(units.total == .max && units.completed == .max)
    }

    @Test("B1.52: counts below zero are nothing, and lengths below zero are not known")
    func negativeCounts() {
        var units = ProgressUnits()
        units.follow(counts(received: .min, sent: -1, toReceive: .min, toSend: 5), .answered)
        #expect(units.total == -1 && units.completed == 0)
        units.follow(counts(received: .min, sent: .min), .complete)
        #expect(units.total == 1 && units.completed == 1)
    }

    @Test("B1.52: what is done never becomes less, by counts that begin anew or are told late, and not after the end")
    func neverBack() {
        var units = ProgressUnits()
        units.follow(counts(sent: 90, toSend: 100), .unanswered)
        #expect(units.total == -1 && units.completed == 90)
        // The body is sent again.
        units.follow(counts(sent: 10, toReceive: 30, toSend: 40), .answered)
        #expect(units.completed == 90 && units.total == -1)
        units.follow(counts(received: 30, sent: 100, toReceive: 30, toSend: 100), .answered)
        #expect(units.completed == 129 && units.total == 130)
        units.follow(counts(received: 20, sent: 100, toReceive: 30, toSend: 100), .complete)
        #expect(units.completed == 130 && units.total == 130)
        units.follow(counts(received: 500, sent: 100, toReceive: 30, toSend: 100), .answered)
        #expect(units.completed == 130 && units.total == 130)
    }

    @Test("B1.52: all of it is done when the task is complete, and not before")
    func finished() {
        var units = ProgressUnits()
        units.follow(counts(received: 2, toReceive: 3), .answered)
        #expect(units.completed == 2 && units.total == 3)
        units.follow(counts(received: 3, toReceive: 3), .answered)
        #expect(units.completed == 2 && units.total == 3)
        // Another part of the same length begins to come.
        units.follow(counts(received: 4, toReceive: 3), .answered)
        #expect(units.completed == 4 && units.total == -1)
        // And one without content.
        units.follow(counts(received: 4, toReceive: 0), .answered)
        #expect(units.completed == 4 && units.total == -1)
        units.follow(counts(received: 4, toReceive: 0), .complete)
        #expect(units.completed == 4 && units.total == 4)
        var empty = ProgressUnits()
        empty.follow(counts(), .answered)
        #expect(empty.completed == 0 && empty.total == -1)
    }

    @Test("A sum that would overflow is the largest number, or the smallest")
    func sums() {
        #expect(Int64.max.addingSaturated(1) == .max && Int64.min.addingSaturated(-1) == .min)
        #expect(Int64(2).addingSaturated(3) == 5 && UInt32.max.addingSaturated(7) == .max)
        #expect(Int64.max.addingSaturated(.min) == -1)
    }
}
