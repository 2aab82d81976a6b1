// The API of URLSessionWebSocketTask, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import Testing
import URLLoading

@Suite("The API of URLSessionWebSocketTask")
struct UrlsessionwebsockettaskSurface {
    @Test("URLSessionWebSocketTask.CloseCode: raw values")
    func urlSessionWebSocketTaskCloseCodeRawValues() {
        let cases: [(URLSessionWebSocketTask.CloseCode, Int)] = [
            (URLSessionWebSocketTask.CloseCode.invalid, 0), (URLSessionWebSocketTask.CloseCode.normalClosure, 1000),
            (URLSessionWebSocketTask.CloseCode.goingAway, 1001),
            (URLSessionWebSocketTask.CloseCode.protocolError, 1002),
            (URLSessionWebSocketTask.CloseCode.unsupportedData, 1003),
            (URLSessionWebSocketTask.CloseCode.noStatusReceived, 1005),
            (URLSessionWebSocketTask.CloseCode.abnormalClosure, 1006),
            (URLSessionWebSocketTask.CloseCode.invalidFramePayloadData, 1007),
            (URLSessionWebSocketTask.CloseCode.policyViolation, 1008),
            (URLSessionWebSocketTask.CloseCode.messageTooBig, 1009),
            (URLSessionWebSocketTask.CloseCode.mandatoryExtensionMissing, 1010),
            (URLSessionWebSocketTask.CloseCode.internalServerError, 1011),
            (URLSessionWebSocketTask.CloseCode.tlsHandshakeFailure, 1015),
        ]
        for (one, rawValue) in cases {
            #expect(one.rawValue == rawValue)
            #expect(URLSessionWebSocketTask.CloseCode(rawValue: rawValue) == one)
        }
    }
}

/// Overrides everything that is open in `URLSessionWebSocketTask` by what does the same.
/// Safe to share: it has no state of its own.
class OverridingURLSessionWebSocketTask: URLSessionWebSocketTask, @unchecked Sendable {
    override func sendPing(pongReceiveHandler: @escaping @Sendable ((any Error)?) -> Void) {
        super.sendPing(pongReceiveHandler: pongReceiveHandler)
    }

    override func cancel(with closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?) {
        super.cancel(with: closeCode, reason: reason)
    }

    override var maximumMessageSize: Int {
        get { super.maximumMessageSize }
        set { super.maximumMessageSize = newValue }
    }

    override var closeCode: URLSessionWebSocketTask.CloseCode { super.closeCode }

    override var closeReason: Data? { super.closeReason }
}

/// Names the API of `URLSessionWebSocketTask`.
private func urlSessionWebSocketTaskMembers(of one: URLSessionWebSocketTask) {
    let _: any (Sendable & URLSessionTask).Type = URLSessionWebSocketTask.self
    let _: (URLSessionWebSocketTask.Message, @escaping @Sendable ((any Error)?) -> Void) -> Void = one.send(
        _:completionHandler:)
    let _: (URLSessionWebSocketTask.Message) async throws -> Void = one.send(_:)
    let _: (@escaping @Sendable (Result<URLSessionWebSocketTask.Message, any Error>) -> Void) -> Void = one.receive(
        completionHandler:)
    let _: () async throws -> URLSessionWebSocketTask.Message = one.receive
    let _: (@escaping @Sendable ((any Error)?) -> Void) -> Void = one.sendPing(pongReceiveHandler:)
    let _: (URLSessionWebSocketTask.CloseCode, Data?) -> Void = one.cancel(with:reason:)
    let _: ReferenceWritableKeyPath<URLSessionWebSocketTask, Int> = \.maximumMessageSize
    let _: KeyPath<URLSessionWebSocketTask, URLSessionWebSocketTask.CloseCode> = \.closeCode
    let _: KeyPath<URLSessionWebSocketTask, Data?> = \.closeReason
}

/// Names the API of `URLSessionWebSocketTask.Message`.
private func urlSessionWebSocketTaskMessageMembers() {
    let _: any Sendable.Type = URLSessionWebSocketTask.Message.self
    let _: (Data) -> URLSessionWebSocketTask.Message = URLSessionWebSocketTask.Message.data(_:)
    let _: (String) -> URLSessionWebSocketTask.Message = URLSessionWebSocketTask.Message.string(_:)
}

/// Names the API of `URLSessionWebSocketTask.CloseCode`.
private func urlSessionWebSocketTaskCloseCodeMembers() {
    let _: any Sendable.Type = URLSessionWebSocketTask.CloseCode.self
    let _: (Int) -> URLSessionWebSocketTask.CloseCode? = URLSessionWebSocketTask.CloseCode.init(rawValue:)
}
