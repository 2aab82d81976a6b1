// Secrets stay out of logs: what holds one says so once, here.

/// A value of which nothing is shown, neither printed nor interpolated nor dumped, by itself or as a part of another.
package protocol Concealed: CustomStringConvertible, CustomReflectable {}

extension Concealed {
    /// Nothing but the name of the type.
    package var description: String { "(\(Self.self))" }

    /// Shows nothing, to `dump` and debuggers that print either.
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
