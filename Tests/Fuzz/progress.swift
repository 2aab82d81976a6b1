// What a progress shows: whatever a task's counts are, and in whichever order they are told, what is done becomes never
// less, is never more than all of it, and is all of it once the task is complete.

/// Runs one input of the fuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzProgress(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    var input = NumberInput(FuzzInput(start, count).bytes)
    var units = ProgressUnits()
    var isComplete = false
    while !input.isEmpty {
        let before = units
        let stages: [ProgressUnits.Stage] = [.unanswered, .answered, .answered, .complete]
        let stage = stages[input.choose(below: 4)]
        let counts = ProgressUnits.Counts(
            received: input.number(), sent: input.number(), expectedToReceive: input.number(),
            expectedToSend: input.number())
        units.follow(counts, stage)
        expect(units.completed >= before.completed, "what was done is undone")
        expect(units.completed >= 0 && units.total >= -1, "less than nothing")
        expect(units.total == -1 || units.completed <= units.total, "more than all of it")
        if isComplete { expect(units == before, "it goes on after the end") }
        isComplete = isComplete || stage == .complete
        if !isComplete { expect(units.completed != units.total, "all of it before the end") }
        if isComplete { expect(units.total == units.completed && units.total > 0, "complete and not all of it") }
    }
    return 0
}
