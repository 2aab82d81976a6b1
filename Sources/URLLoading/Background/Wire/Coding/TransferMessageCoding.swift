// Commands and events as bytes of a stream: each a frame, whose length comes first in four bytes (B10.31). The other
// side is another program, which may be of another version or out of its mind: what cannot be read ends the
// conversation with an error, and neither side has to keep more than one frame.

import URLLoadingPolicy

/// What can be sent in a frame.
package protocol TransferMessage: Sendable {
    /// The bytes of the frame, its length before them; nil for what is too long to be sent.
    var frame: [UInt8]? { get }
    /// Reads what is in a frame.
    init(frame: [UInt8]) throws(TransferCodingError)
}

/// Cuts a stream into messages.
package struct TransferDecoder<Message: TransferMessage>: Sendable {
    private var buffer: [UInt8] = []
    private var consumed = 0
    private var failure: TransferCodingError?

    /// A stream of which nothing has come.
    package init() {}

    /// Takes in the next bytes of the stream.
    package mutating func receive(_ bytes: some Collection<UInt8>) {
        if consumed > 0 {
            buffer.removeSubrange(..<consumed)
            consumed = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// The next message that is whole, or nil; after an error there is nothing but the error.
    package mutating func next() throws(TransferCodingError) -> Message? {
        if let failure { throw failure }
        do throws(TransferCodingError) {
            guard let length = try frameLength else { return nil }
            guard buffer.count - consumed - 4 >= length else { return nil }
            let start = consumed + 4
            consumed = start + length
            return try Message(frame: Array(buffer[start..<consumed]))
        } catch {
            failure = error
            buffer = []
            consumed = 0
            throw error
        }
    }

    /// Whether the stream may end here: between two messages.
    package var isBetweenMessages: Bool { failure == nil && buffer.count == consumed }

    private var frameLength: Int? {
        get throws(TransferCodingError) {
            guard buffer.count - consumed >= 4 else { return nil }
            let length = (0..<4).reversed().reduce(0) { $0 << 8 | Int(buffer[consumed + $1]) }
            guard length <= TransferLimits.frame else { throw .tooLong }
            return length
        }
    }
}

/// The bytes of a frame, its length before them.
private func framed(_ message: some TransferCoded) -> [UInt8]? {
    var writer = ByteWriter(capacity: 256)
    writer.number(UInt32(0))
    writer.value(message)
    var bytes = writer.bytes
    let length = bytes.count - 4
    guard length <= TransferLimits.frame else { return nil }
    for index in 0..<4 { bytes[index] = UInt8(truncatingIfNeeded: length >> (8 * index)) }
    return bytes
}

extension TransferCommand: TransferMessage {
    /// The bytes of the frame, its length before them; nil for what is too long to be sent.
    package var frame: [UInt8]? { framed(self) }

    /// Reads what is in a frame.
    package init(frame: [UInt8]) throws(TransferCodingError) { self = try wholeValue(frame) }
}

extension TransferEvent: TransferMessage {
    /// The bytes of the frame, its length before them; nil for what is too long to be sent.
    package var frame: [UInt8]? { framed(self) }

    /// Reads what is in a frame.
    package init(frame: [UInt8]) throws(TransferCodingError) { self = try wholeValue(frame) }
}

extension TransferCommand: TransferCoded {
    func write(to writer: inout ByteWriter) {
        switch self {
        case .hello(let hello):
            writer.number(UInt8(1))
            writer.value(hello)
        case .start(let order):
            writer.number(UInt8(2))
            writer.value(order)
        case .cancel(let task, let wantsResumeData):
            writer.number(UInt8(3))
            writer.value(task)
            writer.value(wantsResumeData)
        case .suspend(let task):
            writer.number(UInt8(4))
            writer.value(task)
        case .resume(let task):
            writer.number(UInt8(5))
            writer.value(task)
        case .label(let task, let label):
            writer.number(UInt8(6))
            writer.value(task)
            writer.value(label)
        case .priority(let task, let priority):
            writer.number(UInt8(7))
            writer.value(task)
            writer.value(priority)
        case .answer(let answer):
            writer.number(UInt8(8))
            writer.value(answer)
        case .delivered(let task, let number):
            writer.number(UInt8(9))
            writer.value(task)
            writer.value(number)
        case .invalidate(let cancelling):
            writer.number(UInt8(10))
            writer.value(cancelling)
        case .list: writer.number(UInt8(11))
        }
    }

    init(from reader: inout TransferReader) throws(TransferCodingError) {
        switch try reader.number(UInt8.self) {
        case 1: self = .hello(try reader.value())
        case 2: self = .start(try reader.value())
        case 3: self = .cancel(task: try reader.value(), wantsResumeData: try reader.value())
        case 4: self = .suspend(task: try reader.value())
        case 5: self = .resume(task: try reader.value())
        case 6: self = .label(task: try reader.value(), try reader.value())
        case 7: self = .priority(task: try reader.value(), try reader.value())
        case 8: self = .answer(try reader.value())
        case 9: self = .delivered(task: try reader.value(), number: try reader.value())
        case 10: self = .invalidate(cancelling: try reader.value())
        case 11: self = .list
        default: throw .impossible
        }
    }
}

extension TransferEvent: TransferCoded {
    func write(to writer: inout ByteWriter) {
        switch self {
        case .welcome: writer.number(UInt8(1))
        case .refused(let refusal):
            writer.number(UInt8(2))
            writer.value(refusal)
        case .tasks(let tasks):
            writer.number(UInt8(3))
            writer.value(tasks)
        case .accepted(let task):
            writer.number(UInt8(4))
            writer.value(task)
        case .progress(let task, let counts):
            writer.number(UInt8(5))
            writer.value(task)
            writer.value(counts)
        case .redirected(let task, let request):
            writer.number(UInt8(6))
            writer.value(task)
            writer.value(request)
        case .responded(let task, let head):
            writer.number(UInt8(7))
            writer.value(task)
            writer.value(head)
        case .resumedAt(let task, let offset, let total):
            writer.number(UInt8(8))
            writer.value(task)
            writer.value(offset)
            writer.value(total)
        case .resumeData(let task, let data):
            writer.number(UInt8(9))
            writer.value(task)
            writer.value(data.coded)
        case .challenged(let task, let challenge):
            writer.number(UInt8(10))
            writer.value(task)
            writer.value(challenge)
        case .withdrawn(let task, let challenge):
            writer.number(UInt8(11))
            writer.value(task)
            writer.value(challenge)
        case .news(let task, let news):
            writer.number(UInt8(12))
            writer.value(task)
            writer.value(news)
        case .allDelivered: writer.number(UInt8(13))
        case .invalidated: writer.number(UInt8(14))
        case .met(let task):
            writer.number(UInt8(15))
            writer.value(task)
        }
    }

    init(from reader: inout TransferReader) throws(TransferCodingError) {
        switch try reader.number(UInt8.self) {
        case 1: self = .welcome
        case 2: self = .refused(try reader.value())
        case 3: self = .tasks(try reader.value())
        case 4: self = .accepted(task: try reader.value())
        case 5: self = .progress(task: try reader.value(), try reader.value())
        case 6: self = .redirected(task: try reader.value(), try reader.value())
        case 7: self = .responded(task: try reader.value(), try reader.value())
        case 8: self = .resumedAt(task: try reader.value(), offset: try reader.value(), total: try reader.value())
        case 9: self = .resumeData(task: try reader.value(), try reader.value(TransferBytes?.self)?.bytes)
        case 10: self = .challenged(task: try reader.value(), try reader.value())
        case 11: self = .withdrawn(task: try reader.value(), challenge: try reader.value())
        case 12: self = .news(task: try reader.value(), try reader.value())
        case 13: self = .allDelivered
        case 14: self = .invalidated
        case 15: self = .met(try reader.value())
        default: throw .impossible
        }
    }
}
