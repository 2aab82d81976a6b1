// A pipe that is closed in the children of other tests from its first moment on.
//
// pipe() and FD_CLOEXEC behind it leave a moment in which a child that another test is just starting gets both ends:
// the reader then waits for an end that comes with that child's.

import URLLoadingSystem

/// A pipe that no child has, unless it is given an end.
package struct OwnPipe: Sendable {
    /// There was no pipe to be had.
    package struct Failure: Error, CustomStringConvertible {
        /// What failed, with its error number.
        package let description: String
    }

    /// The end to read from; the code that has made the pipe closes it.
    package let read: Int32
    /// The end to write to; the code that has made the pipe closes it.
    package let write: Int32

    /// Makes one.
    package init() throws(Failure) {
        var (reading, writing): (Int32, Int32) = (-1, -1)
        guard urlloading_pipe(&reading, &writing) == 0 else { throw Failure(description: "pipe: error \(errno)") }
        (read, write) = (reading, writing)
    }
}
