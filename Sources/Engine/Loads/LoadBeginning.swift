// In what way a load begins that was on its way to the loop while things happened to it: what was suspended meanwhile
// sends nothing before it is resumed, and what was cancelled sends nothing at all.

/// How a load begins.
package enum LoadBeginning: Sendable {
    case atOnce
    /// Standing still: it was suspended once, and `resume` undoes that.
    case suspended
    /// It ends with a cancellation.
    case cancelled
}

extension SteeredLoad {
    /// Begins in this way; `start` is how it begins at once.
    func begin(_ beginning: LoadBeginning, _ start: () -> Void) {
        switch beginning {
        case .atOnce: start()
        case .suspended:
            suspend()
            start()
        case .cancelled: cancel()
        }
    }
}
