// How large a run is. The quick one finds out whether everything works; its figures mean little.

/// The sizes that scenarios are made with.
struct Scale: Sendable {
    /// Seconds of each run of a scenario that counts requests.
    let seconds: Double
    /// Bytes of a large body.
    let largeBody: Int
    /// Bytes of the file for clients whose uploads take minutes.
    let smallUpload: Int
    /// Bytes of JSON before compression.
    let json: Int
    /// Requests in flight while the server takes its time.
    let inFlight: Int
    /// Requests at once on few connections: a number and ten times as many.
    let waiting: Int
    /// Connections that are kept without work.
    let idle: Int
    /// Seconds that the server waits until they are there, and until they are there with TLS.
    let idlePause: (plain: Int, secure: Int)
    /// Sessions that keep a connection each.
    let sessions: Int
    /// Processes for one start-up measurement.
    let processes: Int

    static let full = Scale(
        seconds: 2, largeBody: 1 << 30, smallUpload: 32 << 20, json: 100 << 20, inFlight: 2_000, waiting: 1_000,
        idle: 10_000,
        idlePause: (3, 10), sessions: 1_000, processes: 20)
    /// For counting under valgrind.
    static let counting = Scale(
        seconds: 0, largeBody: 8 << 20, smallUpload: 1 << 20, json: 1 << 20, inFlight: 10, waiting: 10, idle: 10,
        idlePause: (1, 2), sessions: 10, processes: 1)
    static let quick = Scale(
        seconds: 0.3, largeBody: 64 << 20, smallUpload: 4 << 20, json: 10 << 20, inFlight: 200, waiting: 100, idle: 500,
        idlePause: (1, 2), sessions: 100, processes: 3)
}
