// Lines with the empty ones among them, which Apple's `lines` leaves out.

extension AsyncSequence where Element == UInt8 {
    /// The lines of a text in UTF-8. An empty line is what ends a server-sent event, so it matters there. This method is
    /// ours.
    @inlinable
    public func lines(keepingEmpty: Bool) -> AsyncLineSequence<Self> {
        AsyncLineSequence(self, keepsEmpty: keepingEmpty)
    }
}
