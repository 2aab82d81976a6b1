// The messages of a web socket as a sequence. Ours; Apple's tasks have calls for one message at a time.

import Foundation

extension URLSessionWebSocketTask {
    /// Ours: how a conversation was closed, where an iteration over its messages ends with an error because of it.
    public struct ClosureError: Error, Sendable, Equatable {
        /// The code.
        public let closeCode: URLSessionWebSocketTask.CloseCode
        /// The reason, where one was given.
        public let reason: Data?

        /// Makes an error of a code and a reason.
        public init(closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?) {
            self.closeCode = closeCode
            self.reason = reason
        }
    }

    /// Ours: the messages as they come.
    ///
    /// ```swift
    /// for try await message in task.messages {
    ///     switch message {
    ///     case .string(let text): print(text)
    ///     case .data(let data): print(data.count)
    ///     }
    /// }
    /// ```
    ///
    /// The iteration ends when the conversation was closed with `normalClosure`, `goingAway` or no code; it throws
    /// `ClosureError` for another code, and what the task has failed with. After `cancel(with:reason:)` it ends as soon
    /// as the server has answered, or after five seconds. Cancelling the surrounding Swift task cancels the web socket
    /// task. Of several iterations, and calls of `receive`, each message goes to one.
    public var messages: URLSessionWebSocketTask.Messages { Messages(task: self) }

    /// Ours: what `messages` gives.
    public struct Messages: AsyncSequence, Sendable {
        /// A whole message.
        public typealias Element = URLSessionWebSocketTask.Message

        let task: URLSessionWebSocketTask

        /// Begins to take messages.
        public func makeAsyncIterator() -> URLSessionWebSocketTask.Messages.Iterator { Iterator(task: task) }

        /// Takes one message after the other.
        public struct Iterator: AsyncIteratorProtocol, Sendable {
            let task: URLSessionWebSocketTask

            /// The next message, or `nil` where the conversation is over.
            public mutating func next() async throws -> URLSessionWebSocketTask.Message? {
                let task = task
                return try await withTaskCancellationHandler {
                    do {
                        return try await task.core.webSocket.receiveOrEnd()
                    } catch {
                        return try end(of: task, error)
                    }
                } onCancel: {
                    task.cancel()
                }
            }

            private func end(
                of task: URLSessionWebSocketTask, _ error: any Error
            ) throws -> URLSessionWebSocketTask.Message? {
                switch task.closeCode {
                // Not closed properly, or not at all.
                case .invalid: throw error
                case .normalClosure, .goingAway, .noStatusReceived: return nil
                case .protocolError, .unsupportedData, .abnormalClosure, .invalidFramePayloadData, .policyViolation,
                    .messageTooBig, .mandatoryExtensionMissing, .internalServerError, .tlsHandshakeFailure, .other:
                    throw ClosureError(closeCode: task.closeCode, reason: task.closeReason)
                }
            }
        }
    }
}
