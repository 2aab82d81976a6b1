// What `URLSession.EventHandlers` hears of streams, and of data tasks that become some.

import Foundation

extension URLSession.EventHandlers {
    /// Calls `didBecomeStream`.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask
    ) {
        guard let closure = didBecomeStream else { return miss(.becomeStream, dataTask) }
        closure(session, dataTask, streamTask)
    }

    /// Calls `readClosed`.
    public func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask) {
        guard let closure = readClosed else { return miss(.readClosed, streamTask) }
        closure(session, streamTask)
    }

    /// Calls `writeClosed`.
    public func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask) {
        guard let closure = writeClosed else { return miss(.writeClosed, streamTask) }
        closure(session, streamTask)
    }

    /// Calls `didBecomeStreams`.
    public func urlSession(
        _ session: URLSession, streamTask: URLSessionStreamTask, didBecome inputStream: InputStream,
        outputStream: OutputStream
    ) {
        guard let closure = didBecomeStreams else { return miss(.becameStreams, streamTask) }
        closure(session, streamTask, inputStream, outputStream)
    }
}
