// The API of URLSessionStreamTask, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Overrides everything that is open in `URLSessionStreamTask` by what does the same.
/// Safe to share: it has no state of its own.
class OverridingURLSessionStreamTask: URLSessionStreamTask, @unchecked Sendable {
    override func readData(
        ofMinLength minBytes: Int, maxLength maxBytes: Int, timeout: TimeInterval,
        completionHandler: @escaping @Sendable (Data?, Bool, (any Error)?) -> Void
    ) {
        super.readData(
            ofMinLength: minBytes, maxLength: maxBytes, timeout: timeout, completionHandler: completionHandler)
    }

    override func readData(ofMinLength minBytes: Int, maxLength maxBytes: Int, timeout: TimeInterval) async throws -> (
        Data?, Bool
    ) { try await super.readData(ofMinLength: minBytes, maxLength: maxBytes, timeout: timeout) }

    override func write(
        _ data: Data, timeout: TimeInterval, completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) { super.write(data, timeout: timeout, completionHandler: completionHandler) }

    override func write(_ data: Data, timeout: TimeInterval) async throws {
        try await super.write(data, timeout: timeout)
    }

    override func captureStreams() { super.captureStreams() }

    override func closeWrite() { super.closeWrite() }

    override func closeRead() { super.closeRead() }

    override func startSecureConnection() { super.startSecureConnection() }

    @available(*, deprecated)
    override func stopSecureConnection() { super.stopSecureConnection() }
}

/// Names the API of `URLSessionStreamTask`.
private func urlSessionStreamTaskMembers(of one: URLSessionStreamTask) {
    let _: any (Sendable & URLSessionTask).Type = URLSessionStreamTask.self
    let _: (Int, Int, TimeInterval, @escaping @Sendable (Data?, Bool, (any Error)?) -> Void) -> Void = one.readData(
        ofMinLength:maxLength:timeout:completionHandler:)
    let _: (Int, Int, TimeInterval) async throws -> (Data?, Bool) = one.readData(ofMinLength:maxLength:timeout:)
    let _: (Data, TimeInterval, @escaping @Sendable ((any Error)?) -> Void) -> Void = one.write(
        _:timeout:completionHandler:)
    let _: (Data, TimeInterval) async throws -> Void = one.write(_:timeout:)
    let _: () -> Void = one.captureStreams
    let _: () -> Void = one.closeWrite
    let _: () -> Void = one.closeRead
    let _: () -> Void = one.startSecureConnection
}

/// Names, as far as it is deprecated, the API of `URLSessionStreamTask`.
@available(*, deprecated)
private func urlSessionStreamTaskDeprecatedmembers(of one: URLSessionStreamTask) {
    let _: () -> URLSessionStreamTask = URLSessionStreamTask.init
    let _: () -> Void = one.stopSecureConnection
}
