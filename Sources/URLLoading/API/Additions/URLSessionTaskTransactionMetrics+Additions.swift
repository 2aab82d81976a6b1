// What Apple's metrics do not count.

extension URLSessionTaskTransactionMetrics {
    /// Ours: bytes of the response's body before its content coding was undone, without the framing of chunks,
    /// which `countOfResponseBodyBytesReceived` has in it. Of what a background session has loaded, the
    /// framing is counted here too.
    public var countOfResponseBodyBytesBeforeDecoding: Int64 { bodyBytesBeforeDecoding }
}
