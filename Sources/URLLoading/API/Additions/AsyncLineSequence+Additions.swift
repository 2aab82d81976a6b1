// Lines with the empty ones among them, which Apple's `lines` leaves out.

extension AsyncSequence where Element == UInt8 {
    /// The lines of a text in UTF-8, the empty ones too if wanted, for formats in which they mean something. This
    /// method is ours.
    @inlinable
    public func lines(keepingEmpty: Bool) -> AsyncLineSequence<Self> {
        AsyncLineSequence(self, keepsEmpty: keepingEmpty)
    }
}
