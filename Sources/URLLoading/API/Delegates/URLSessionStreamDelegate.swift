// What a session tells its delegate, and a task its own, about stream tasks.

import Foundation

/// Is told what becomes of the connections of stream tasks.
@preconcurrency
public protocol URLSessionStreamDelegate: URLSessionTaskDelegate {
    /// Nothing more can come: reading was ended, or the peer has finished its side. What has come before can still be
    /// read, unless the program ended reading itself (B15.49, B15.50).
    func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask)

    /// Our side of the connection is finished (B15.48).
    func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask)

    /// A better way to the host is there. It is never called here (B15.52).
    func urlSession(_ session: URLSession, betterRouteDiscoveredFor streamTask: URLSessionStreamTask)

    /// The connection goes on as two streams, not open yet. The task is complete, and nothing more is told of it
    /// (B15.51).
    func urlSession(
        _ session: URLSession, streamTask: URLSessionStreamTask, didBecome inputStream: InputStream,
        outputStream: OutputStream)
}

extension URLSessionStreamDelegate {
    /// Does nothing.
    public func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask) {
        streamTask.core.probe.noteMissing(.readClosed, of: self)
    }

    /// Does nothing.
    public func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask) {
        streamTask.core.probe.noteMissing(.writeClosed, of: self)
    }

    /// Does nothing.
    public func urlSession(_ session: URLSession, betterRouteDiscoveredFor streamTask: URLSessionStreamTask) {
        streamTask.core.probe.noteMissing(.betterRoute, of: self)
    }

    /// Lets the streams go, and with them the connection.
    public func urlSession(
        _ session: URLSession, streamTask: URLSessionStreamTask, didBecome inputStream: InputStream,
        outputStream: OutputStream
    ) {
        streamTask.core.probe.noteMissing(.becameStreams, of: self)
    }
}
