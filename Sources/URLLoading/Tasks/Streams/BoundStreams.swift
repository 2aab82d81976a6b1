// A pair of streams, of which one reads what is written to the other: the way to feed a request's body stream.
//
// Reading and writing may happen on any threads; a reader that finds the buffer empty waits, and a writer that finds it
// full. Events of the delegates come on the queue named by `CFReadStreamSetDispatchQueue` or
// `CFWriteStreamSetDispatchQueue`, or on the main queue for streams that are scheduled in the main run loop. Other run
// loops cannot be woken from here and get no events.

import Dispatch
import Foundation
import Synchronization

extension Stream {
    /// Makes a connected pair: bytes written to the output stream come out of the input stream, at most `bufferSize` of
    /// them wait in between. Apple's parameters are pointers; the same calls compile.
    public class func getBoundStreams(
        withBufferSize bufferSize: Int, inputStream: inout InputStream?, outputStream: inout OutputStream?
    ) {
        let buffer = BoundedBuffer(capacity: bufferSize)
        inputStream = BoundInputStream(buffer)
        outputStream = BoundOutputStream(buffer)
    }
}

/// A stream to read from, by the name that C code has for it.
public typealias CFReadStream = InputStream
/// A stream to write to, by the name that C code has for it.
public typealias CFWriteStream = OutputStream

/// Names the queue for the events of one end of a bound pair, or none; other streams are left as they are.
public func CFReadStreamSetDispatchQueue(_ stream: CFReadStream!, _ q: DispatchQueue!) {
    (stream as? BoundInputStream)?.events.setQueue(q)
}

/// Names the queue for the events of one end of a bound pair, or none; other streams are left as they are.
public func CFWriteStreamSetDispatchQueue(_ stream: CFWriteStream!, _ q: DispatchQueue!) {
    (stream as? BoundOutputStream)?.events.setQueue(q)
}

extension OutputStream {
    // An array of bytes converts to both kinds of pointer, and is to go on meaning Foundation's method.
    /// Writes raw bytes.
    @discardableResult @_disfavoredOverload
    public func write(_ buffer: UnsafeRawPointer, maxLength: Int) -> Int {
        write(buffer.assumingMemoryBound(to: UInt8.self), maxLength: maxLength)
    }
}

/// The end that is read.
final class BoundInputStream: InputStream {
    private let buffer: BoundedBuffer
    fileprivate let events = StreamEvents()

    init(_ buffer: BoundedBuffer) {
        self.buffer = buffer
        super.init(data: Data())
        events.attach(self) { [buffer] in
            let can = buffer.canRead
            if can.something { return .hasBytesAvailable }
            return can.end ? buffer.failure == nil ? .endEncountered : .errorOccurred : nil
        }
        buffer.observeReading { [weak events] in events?.somethingChanged() }
    }

    deinit { buffer.closeReading() }

    override func open() { events.open() }

    override func close() {
        events.close()
        buffer.closeReading()
    }

    override var hasBytesAvailable: Bool { events.isOpen && buffer.canRead.something }

    override var streamStatus: Stream.Status {
        events.status(isAtEnd: buffer.canRead.end, hasFailed: buffer.failure != nil)
    }

    override var streamError: (any Error)? { buffer.failure }

    /// Whether reading would wait.
    var isEmpty: Bool { buffer.isEmpty }

    /// Calls `body` once, as soon as reading would not wait, on the thread that has caused it;
    /// false where it would not now.
    func awaitReading(_ body: @escaping @Sendable () -> Void) -> Bool { buffer.awaitReading(body) }

    override func read(_ bytes: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        guard events.isOpen, maxLength >= 0 else { return -1 }
        defer { events.somethingChanged() }
        return buffer.read(into: UnsafeMutableRawBufferPointer(start: bytes, count: maxLength))
    }

    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length: UnsafeMutablePointer<Int>
    ) -> Bool { false }

    override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) { events.schedule(in: aRunLoop) }

    override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) { events.setQueue(nil) }

    override func property(forKey key: Stream.PropertyKey) -> AnyObject? { nil }

    override func setProperty(_ property: AnyObject?, forKey key: Stream.PropertyKey) -> Bool { false }
}

/// The end that is written.
final class BoundOutputStream: OutputStream {
    private let buffer: BoundedBuffer
    fileprivate let events = StreamEvents()

    init(_ buffer: BoundedBuffer) {
        self.buffer = buffer
        super.init(toMemory: ())
        events.attach(self) { [buffer] in
            let can = buffer.canWrite
            if can.end { return buffer.writerFailure == nil ? .endEncountered : .errorOccurred }
            return can.room ? .hasSpaceAvailable : nil
        }
        buffer.observeWriting { [weak events] in events?.somethingChanged() }
    }

    /// Required by the parent class, and of no use: a stream in memory has no other end.
    required init(toMemory: ()) {
        buffer = BoundedBuffer(capacity: 1)
        super.init(toMemory: ())
    }

    deinit { buffer.closeWriting() }

    override func open() { events.open() }

    override func close() {
        events.close()
        buffer.closeWriting()
    }

    override var hasSpaceAvailable: Bool { events.isOpen && buffer.canWrite.room }

    override var streamStatus: Stream.Status {
        events.status(isAtEnd: buffer.canWrite.end, hasFailed: buffer.writerFailure != nil)
    }

    override var streamError: (any Error)? { buffer.writerFailure }

    override func write(_ bytes: UnsafePointer<UInt8>, maxLength: Int) -> Int {
        guard events.isOpen, maxLength >= 0 else { return -1 }
        defer { events.somethingChanged() }
        return buffer.write(UnsafeRawBufferPointer(start: bytes, count: maxLength))
    }

    override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) { events.schedule(in: aRunLoop) }

    override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) { events.setQueue(nil) }

    override func property(forKey key: Stream.PropertyKey) -> AnyObject? { nil }

    override func setProperty(_ property: AnyObject?, forKey key: Stream.PropertyKey) -> Bool { false }
}

extension BoundedBuffer {
    /// Why writing fails (B11.40). A reader that has gone is the end of what can be written, and no failure: it may
    /// have all that it wanted.
    fileprivate var writerFailure: (any Error)? { failure ?? (isAbandoned ? POSIXError(.EPIPE) : nil) }
}

/// The life of one end, and the way of its events to its delegate.
private final class StreamEvents: Sendable {
    private enum Phase { case made, open, closed }

    private struct State {
        var phase = Phase.made
        var queue: DispatchQueue?
        var hasToldOpening = false
        var hasToldEnd = false
        /// A block is on the queue that has not looked yet.
        var isScheduled = false
        var target: Target?
        var condition: (@Sendable () -> Stream.Event?)?
    }

    /// A stream on its way to the queue that its owner has named.
    ///
    /// Unchecked because Foundation declares that its stream classes are never Sendable, so that our own two cannot be
    /// either, although they are: their buffer and their events are behind Mutexes, and of what the parent holds only
    /// the delegate is touched, on this queue, which is named after the delegate was set. Nothing else uses this box.
    private struct Target: @unchecked Sendable {
        weak var stream: Stream?
    }

    private let state = Mutex(State())

    func attach(_ stream: Stream, condition: @escaping @Sendable () -> Stream.Event?) {
        let target = Target(stream: stream)
        state.withLock { state in
            state.target = target
            state.condition = condition
        }
    }

    var isOpen: Bool { state.withLock { $0.phase == .open } }

    func status(isAtEnd: Bool, hasFailed: Bool) -> Stream.Status {
        switch state.withLock({ $0.phase }) {
        case .made: .notOpen
        case .open: hasFailed ? .error : isAtEnd ? .atEnd : .open
        case .closed: .closed
        }
    }

    func open() {
        state.withLock { if $0.phase == .made { $0.phase = .open } }
        somethingChanged()
    }

    func close() { state.withLock { $0.phase = .closed } }

    func setQueue(_ queue: DispatchQueue?) {
        state.withLock { $0.queue = queue }
        somethingChanged()
    }

    func schedule(in runLoop: RunLoop) {
        if runLoop === RunLoop.main {
            setQueue(.main)
        } else {
            ErrorText.reportMisuse("a bound stream gets its events on a queue or in the main run loop, nowhere else")
        }
    }

    /// Looks, on the queue, what there is to tell.
    func somethingChanged() {
        let queue = state.withLock { state -> DispatchQueue? in
            guard state.phase == .open, !state.isScheduled, let queue = state.queue else { return nil }
            state.isScheduled = true
            return queue
        }
        queue?.async { [self] in tell() }
    }

    private func tell() {
        let (target, opens, condition) = state.withLock { state in
            state.isScheduled = false
            defer { state.hasToldOpening = true }
            return (state.target, !state.hasToldOpening, state.condition)
        }
        guard isOpen, let stream = target?.stream else { return }
        if opens { stream.delegate?.stream(stream, handle: .openCompleted) }
        guard isOpen, let event = condition?() else { return }
        if event == .endEncountered || event == .errorOccurred {
            let isFirst = state.withLock { state in
                defer { state.hasToldEnd = true }
                return !state.hasToldEnd
            }
            guard isFirst else { return }
        }
        stream.delegate?.stream(stream, handle: event)
    }
}
