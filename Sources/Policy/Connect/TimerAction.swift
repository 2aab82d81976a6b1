// What a machine that needs one timer wants done with it.

/// What to do with the one timer of a machine.
package enum TimerAction: Sendable, Equatable {
    /// Leave it as it is.
    case none
    /// Fire at this time, counted from wherever the driver counts, instead of any earlier setting.
    case set(Duration)
    /// Do not fire any more.
    case clear
}
