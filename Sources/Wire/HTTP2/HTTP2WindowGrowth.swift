// Whether the windows of streams are too small for the way to the server: a PING goes along with an update of a window,
// and what comes of the stream until it is answered is what is on the way at one time. Where that is above half of the
// window, the server has to wait for updates, and the window is doubled (H10.1). It writes nothing and knows no time.

/// How large the windows of a connection's streams have to be.
struct HTTP2WindowGrowth {
    /// What is being measured.
    private struct Measurement {
        let stream: HTTP2StreamID
        var byteCount = 0
    }

    /// The size that a stream of this connection has needed; a further one needs it, too.
    private(set) var learned = 0
    private var measurement: Measurement?
    /// For how many updates nothing is measured: the last measurement found windows large enough.
    private var updatesToSkip = 0

    /// An update of a stream's window goes out; answers whether a PING is to go with it.
    mutating func updateGoes(size: Int) -> Bool {
        guard measurement == nil, size < Self.largest else { return false }
        guard updatesToSkip == 0 else {
            updatesToSkip -= 1
            return false
        }
        return true
    }

    /// The PING is on its way.
    mutating func pingGoes(with stream: HTTP2StreamID) { measurement = Measurement(stream: stream) }

    /// Bytes of a stream's body have come.
    mutating func received(_ count: Int, of stream: HTTP2StreamID) {
        if measurement?.stream == stream { measurement?.byteCount += count }
    }

    /// The stream that is being measured.
    var measuredStream: HTTP2StreamID? { measurement?.stream }

    /// The PING was answered. Takes the size of the stream's window, nil if it is not what limits the stream, and
    /// answers how large it has to be; nil if it is large enough.
    mutating func pingAnswered(size: Int?) -> Int? {
        guard let measurement else { return nil }
        self.measurement = nil
        guard let size, size < Self.largest, measurement.byteCount > size / 2 else {
            updatesToSkip = Self.updatesSkipped
            return nil
        }
        learned = max(learned, min(size * 2, Self.largest))
        return learned
    }

    /// H10.1.
    private static var largest: Int { 16 * 1024 * 1024 }
    /// Picked by feel: a PING for some ten megabytes.
    private static var updatesSkipped: Int { 8 }
}
