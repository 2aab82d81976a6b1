// A result whose body is taken as a whole: the receiver of the result, and how the body is collected until then.

import Foundation
import URLLoadingEngine
import URLLoadingWire

/// Where a whole body goes.
enum WholeBodyOutlet: Sendable {
    /// To a handler (B1.76).
    case handler(CompletionHandler<Data>)
    /// To an async call.
    case awaiting

    /// Whether it goes to asynchronous code.
    var isAwaited: Bool { if case .awaiting = self { true } else { false } }

    /// B1.93: the delegate of an async call sees the response and the pieces as they come.
    var audience: Audience { isAwaited ? .own : .noDelegate }

    /// Tells the handler of the end; returns the async call, for the caller to resume.
    func finish(_ task: TaskCore, _ end: borrowing TaskResult, _ body: Data?) -> EndedCall? {
        switch self {
        case .handler(let handler):
            // B1.82, B1.83.
            handler.call(end.error == nil ? body ?? Data() : nil, end.response, end.error)
            return nil
        case .awaiting:
            return EndedCall(task, end) { .data(body ?? Data(), $0) }
        }
    }
}

/// A body that is collected as a whole: one `Data` that grows in place and is handed over without a further copy.
struct WholeBody {
    private(set) var data = Data()
    /// What the first piece makes room for.
    private var room = 0

    /// Notes the announced length, so far as it is believable.
    mutating func expect(_ framing: BodyFraming, decoding: Bool) {
        guard case .length(let length) = framing, length > 0 else { return }
        // Untouched memory costs only addresses, so a false announcement costs nothing; a decoded body is longer.
        room = Int(decoding ? min(length, Self.mostDecodedRoom) : min(length, Self.mostRoom))
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if data.isEmpty {
            // Nearly always the whole of a small body: copied into memory of its size, in one step.
            if bytes.count >= room {
                data = Data(bytes)
                return
            }
            data.reserveCapacity(room)
        }
        bytes.withMemoryRebound(to: UInt8.self) { data.append($0) }
    }

    private static let mostRoom: Int64 = 32 * 1024 * 1024
    private static let mostDecodedRoom: Int64 = 1024 * 1024
}

extension Data {
    /// The bytes of a piece, where they arrived if that is better than a copy.
    init(_ piece: BodyPiece) {
        guard let kept = piece.keep(), let start = kept.bytes.baseAddress else {
            self.init(piece.bytes)
            return
        }
        // A program that changes the data in place changes only bytes that nothing else reads.
        self.init(
            bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: kept.bytes.count,
            deallocator: .custom { _, _ in withExtendedLifetime(kept) {} })
    }
}
