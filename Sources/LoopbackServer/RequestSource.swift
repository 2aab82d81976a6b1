// Where a request comes from: a name for it as long as it is under way.

/// A connection, and over HTTP/2 a stream of it; 0 stands for HTTP/1.1.
struct RequestSource: Hashable, Sendable {
    let connection: Int
    var stream: UInt32 = 0
}
