// A body that is not written anywhere: counted, and kept while it is short.

import Foundation
import Synchronization
import URLLoading

/// Takes a body that is not printed, and keeps it if it is short.
final class MemorySink: Sink {
    /// More than this is not kept.
    private static let largest = 16 << 20

    private let keeps: Bool
    private let state = Mutex<(data: Data, length: Int64)>((Data(), 0))

    init(keeps: Bool) { self.keeps = keeps }

    func prepare(_ request: inout URLRequest, _ patience: Patience) throws(FetchError) {}

    func begin(_ response: URLResponse, head: String?) throws(FetchError) { state.withLock { $0 = (Data(), 0) } }

    func write(_ data: Data) throws(FetchError) {
        state.withLock { state in
            state.length += Int64(data.count)
            if keeps, state.length <= Self.largest { state.data += data }
        }
    }

    func finish() throws(FetchError) {}

    func fail() -> String? { nil }

    var offset: Int64 { 0 }

    var canTryAgain: Bool { true }

    var path: String? { nil }

    /// The body; nil where it was too long.
    var body: Data? { state.withLock { keeps && $0.length <= Self.largest ? $0.data : nil } }

    var length: Int64 { state.withLock(\.length) }
}
