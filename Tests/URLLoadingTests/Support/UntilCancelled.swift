// What a program's own code does in tests that never answers.

/// Returns when the Swift task that it is called in is cancelled, and says so.
func untilCancelled(_ cancelled: Signal? = nil) async {
    await withTaskCancellationHandler {
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        for await _ in stream {}
        continuation.finish()
    } onCancel: {
        cancelled?.fire()
    }
}
