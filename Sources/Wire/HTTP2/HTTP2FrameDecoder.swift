// Takes a connection's bytes apart into frames and judges what can be judged by a frame alone: its size, its padding,
// its place on a stream or on the connection, and that header blocks are in one piece. Bodies and blocks are answered
// as ranges of the bytes given, where they arrived; nothing is collected but numbers. It does not know which streams
// there are, and decodes no fields. What is wrong is found when a frame's header has come, or the byte that is wrong,
// so that cutting changes no verdict. RFC 9113 §3.4, §4, §6.

/// A resumable decoder of the frames on one connection.
package struct HTTP2FrameDecoder: ~Copyable {
    /// What was found.
    package enum Step: Sendable, Equatable {
        /// All bytes were used; partial headers are kept inside.
        case needMore
        /// A DATA frame begins. Of its `byteCount` bytes, which all count for flow control, `padding` are no body.
        case dataBegins(stream: UInt32, byteCount: Int, padding: Int, endsStream: Bool)
        /// Bytes of that frame's body, as offsets into the bytes given; never empty.
        case data(Range<Int>)
        /// That DATA frame is complete.
        case dataEnds
        /// A header block begins, by a frame of so many bytes, its header included.
        case blockBegins(stream: UInt32, frameBytes: Int, endsStream: Bool)
        /// The block goes on in a further frame of so many bytes.
        case blockContinues(frameBytes: Int)
        /// Bytes of the block, as offsets into the bytes given; never empty.
        case block(Range<Int>)
        /// The block is complete.
        case blockEnds
        /// A whole control frame, or the beginning of one that is ignored.
        case control(HTTP2ControlFrame)
    }

    private enum Phase {
        /// The client's first bytes, of which so many have come.
        case preface(Int)
        /// Length, type and flags.
        case headerStart
        /// The stream's number.
        case headerStream
        /// What stands before a body or a block: the length of the padding, and the old priority.
        case prelude(Int)
        case body
        /// The number of which a control frame consists, in so many bytes.
        case number(Int)
        case setting
        case debugData
        /// Bytes that mean nothing, the frame's last.
        case rest
        case failed(HTTP2Fault)
    }

    private let role: HTTP2Role
    private let maximumFrameSize: Int
    private var phase: Phase
    private var header = HTTP2FrameHeader(.data, length: 0)
    /// Bytes of the frame's payload that were not used yet, its padding not counted.
    private var left = 0
    private var padding = 0
    /// A number that is being collected, and how many bytes of it have come.
    private var number: UInt64 = 0
    private var numberBytes = 0
    /// The stream whose header block has begun and not ended; 0 if there is none.
    private var openBlock: UInt32 = 0
    private var isFirstFrame = true
    private var change = HTTP2SettingsChange()
    /// What a GOAWAY begins with, while its text is being read.
    private var goodbye = (last: UInt32(0), code: HTTP2ErrorCode.noError)

    /// What the last GOAWAY says in words, cut to what is kept of it (H9.8).
    package private(set) var debugData: [UInt8] = []

    /// Makes a decoder for a new connection; `role` is the reader's.
    package init(_ role: HTTP2Role, maximumFrameSize: UInt32 = 16_384) {
        self.role = role
        self.maximumFrameSize = Int(maximumFrameSize)
        phase = role == .server ? .preface(0) : .headerStart
    }

    /// Decodes from `bytes` at `offset` and moves `offset` behind what was used.
    ///
    /// After a fault every call throws it again.
    package mutating func next(_ bytes: RawSpan, offset: inout Int) throws(HTTP2Fault) -> Step {
        do throws(HTTP2Fault) {
            while true {
                if let step = try advance(bytes, &offset) { return step }
            }
        } catch {
            phase = .failed(error)
            throw error
        }
    }

    /// One step within a frame; nil if it found nothing to tell.
    private mutating func advance(_ bytes: RawSpan, _ offset: inout Int) throws(HTTP2Fault) -> Step? {
        switch phase {
        case .preface(let matched): return try readPreface(bytes, &offset, matched)
        case .headerStart:
            guard let start = collect(5, bytes, &offset) else { return .needMore }
            header = HTTP2FrameHeader(start: start)
            phase = .headerStream
            return nil
        case .headerStream:
            guard let stream = collect(4, bytes, &offset) else { return .needMore }
            header.stream = UInt32(truncatingIfNeeded: stream) & 0x7FFF_FFFF
            left = header.length
            padding = 0
            return try frameBegins()
        case .prelude(let count):
            guard let prelude = collect(count, bytes, &offset) else { return .needMore }
            return try preludeEnds(prelude, count)
        case .body:
            guard left > 0 else {
                left = padding
                phase = .rest
                return nil
            }
            guard offset < bytes.byteCount else { return .needMore }
            let range = takeRange(bytes, &offset)
            return header.type == HTTP2FrameType.data.rawValue ? .data(range) : .block(range)
        case .number(let count):
            guard let number = collect(count, bytes, &offset) else { return .needMore }
            left -= count
            return numberEnds(number)
        case .setting: return try readSetting(bytes, &offset)
        case .debugData: return readDebugData(bytes, &offset)
        case .rest:
            if left > 0 {
                guard offset < bytes.byteCount else { return .needMore }
                _ = takeRange(bytes, &offset)
            }
            return left > 0 ? .needMore : frameEnds()
        case .failed(let fault): throw fault
        }
    }

    // MARK: Frames begin

    /// The header has come: what kind of frame is it, and may it stand here?
    private mutating func frameBegins() throws(HTTP2Fault) -> Step? {
        let type = HTTP2FrameType(rawValue: header.type)
        if isFirstFrame {
            // H8.1: before anything else, so that a page in HTTP/1.1 is not taken for a large frame.
            guard type == .settings, !header.has(HTTP2FrameFlags.acknowledgement), header.stream == 0 else {
                throw .connection(.notHTTP2)
            }
            isFirstFrame = false
        }
        guard header.length <= maximumFrameSize else { throw fault(.frameTooLarge) }
        if openBlock != 0 {
            guard type == .continuation, header.stream == openBlock else { throw fault(.brokenBlock) }
        }
        switch type {
        case .data, .headers: return try messageFrameBegins()
        case .continuation:
            guard openBlock != 0 else { throw fault(.brokenBlock) }
            phase = .body
            return .blockContinues(frameBytes: frameBytes)
        case .priority:
            guard header.stream != 0 else { throw fault(.wrongStream) }
            phase = .rest
            return .control(.priority)
        case .resetStream:
            guard header.stream != 0 else { throw fault(.wrongStream) }
            guard header.length == 4 else { throw fault(.frameSize) }
            phase = .number(4)
            return nil
        case .windowUpdate:
            guard header.length == 4 else { throw fault(.frameSize) }
            phase = .number(4)
            return nil
        case .settings: return try settingsBegin()
        case .pushPromise: throw fault(.push)
        case .ping, .goAway:
            guard header.stream == 0 else { throw fault(.wrongStream) }
            guard type == .ping ? header.length == 8 : header.length >= 8 else { throw fault(.frameSize) }
            phase = .number(8)
            return nil
        case nil:
            phase = .rest
            return .control(.unknown(type: header.type))
        }
    }

    private mutating func settingsBegin() throws(HTTP2Fault) -> Step? {
        guard header.stream == 0 else { throw fault(.wrongStream) }
        if header.has(HTTP2FrameFlags.acknowledgement) {
            guard header.length == 0 else { throw fault(.frameSize) }
            phase = .headerStart
            return .control(.settingsAcknowledged)
        }
        guard header.length % 6 == 0 else { throw fault(.frameSize) }
        change = HTTP2SettingsChange()
        phase = .setting
        return nil
    }

    private mutating func messageFrameBegins() throws(HTTP2Fault) -> Step? {
        guard header.stream != 0 else { throw fault(.wrongStream) }
        let isHeaders = header.type == HTTP2FrameType.headers.rawValue
        let prelude = (isPadded ? 1 : 0) + (isHeaders && header.has(HTTP2FrameFlags.priority) ? 5 : 0)
        guard header.length >= prelude else { throw fault(.frameSize) }
        guard prelude == 0 else {
            phase = .prelude(prelude)
            return nil
        }
        return messageBytesBegin()
    }

    /// RFC 9113 §6.1, §6.2: padding may fill the frame, and no more.
    private mutating func preludeEnds(_ prelude: UInt64, _ count: Int) throws(HTTP2Fault) -> Step? {
        left -= count
        if isPadded {
            padding = Int(prelude >> UInt64(8 * (count - 1)) & 0xFF)
            guard padding <= left else { throw fault(.padding) }
            left -= padding
        }
        return messageBytesBegin()
    }

    private mutating func messageBytesBegin() -> Step {
        phase = .body
        let endsStream = header.has(HTTP2FrameFlags.endStream)
        guard header.type == HTTP2FrameType.headers.rawValue else {
            return .dataBegins(
                stream: header.stream, byteCount: header.length, padding: header.length - left, endsStream: endsStream)
        }
        openBlock = header.stream
        return .blockBegins(stream: header.stream, frameBytes: frameBytes, endsStream: endsStream)
    }

    private var isPadded: Bool { header.has(HTTP2FrameFlags.padded) }

    private var frameBytes: Int { HTTP2FrameHeader.byteCount + header.length }

    private func fault(_ reason: HTTP2Fault.Reason) -> HTTP2Fault { .connection(reason, stream: header.stream) }

    // MARK: Frames end

    /// All of a frame was read, its padding included.
    private mutating func frameEnds() -> Step? {
        phase = .headerStart
        switch HTTP2FrameType(rawValue: header.type) {
        case .data: return .dataEnds
        case .headers, .continuation:
            guard header.has(HTTP2FrameFlags.endHeaders) else { return nil }
            openBlock = 0
            return .blockEnds
        case .goAway: return .control(.goAway(last: goodbye.last, goodbye.code))
        case .priority, .resetStream, .settings, .pushPromise, .ping, .windowUpdate, nil: return nil
        }
    }

    /// The number of which a control frame consists, or with which it begins, has come.
    private mutating func numberEnds(_ number: UInt64) -> Step? {
        phase = .headerStart
        let low = UInt32(truncatingIfNeeded: number)
        switch HTTP2FrameType(rawValue: header.type) {
        case .resetStream: return .control(.resetStream(header.stream, HTTP2ErrorCode(rawValue: low)))
        case .windowUpdate:
            return .control(.windowUpdate(stream: header.stream, increment: low & 0x7FFF_FFFF))
        case .ping:
            let isAnswer = header.has(HTTP2FrameFlags.acknowledgement)
            return .control(isAnswer ? .pingAcknowledged(number) : .ping(number))
        case .goAway:
            let last = UInt32(truncatingIfNeeded: number >> 32) & 0x7FFF_FFFF
            goodbye = (last, HTTP2ErrorCode(rawValue: low))
            debugData.removeAll(keepingCapacity: true)
            phase = .debugData
            return nil
        case .data, .headers, .priority, .settings, .pushPromise, .continuation, nil: return nil
        }
    }

    /// Reads entries until the frame ends: together they are one change (RFC 9113 §6.5.3).
    private mutating func readSetting(_ bytes: RawSpan, _ offset: inout Int) throws(HTTP2Fault) -> Step? {
        guard left > 0 else {
            phase = .headerStart
            return .control(.settings(change))
        }
        guard let entry = collect(6, bytes, &offset) else { return .needMore }
        left -= 6
        try change.add(
            UInt16(truncatingIfNeeded: entry >> 32), UInt32(truncatingIfNeeded: entry),
            from: role == .client ? .server : .client)
        return nil
    }

    private mutating func readDebugData(_ bytes: RawSpan, _ offset: inout Int) -> Step? {
        while left > 0, debugData.count < Self.keptDebugData {
            guard offset < bytes.byteCount else { return .needMore }
            debugData.append(bytes.byte(at: offset))
            offset += 1
            left -= 1
        }
        phase = .rest
        return nil
    }

    // MARK: Bytes

    /// Collects a number of at most eight bytes; nil until all have come.
    private mutating func collect(_ count: Int, _ bytes: RawSpan, _ offset: inout Int) -> UInt64? {
        while numberBytes < count {
            guard offset < bytes.byteCount else { return nil }
            number = number << 8 | UInt64(bytes.byte(at: offset))
            numberBytes += 1
            offset += 1
        }
        defer { (number, numberBytes) = (0, 0) }
        return number
    }

    /// As much of what is left of the frame as is there.
    private mutating func takeRange(_ bytes: RawSpan, _ offset: inout Int) -> Range<Int> {
        let count = min(left, bytes.byteCount - offset)
        let range = offset..<(offset + count)
        offset += count
        left -= count
        return range
    }

    /// RFC 9113 §3.4.
    private mutating func readPreface(
        _ bytes: RawSpan, _ offset: inout Int, _ matched: Int
    ) throws(HTTP2Fault) -> Step? {
        var matched = matched
        while matched < HTTP2FrameEncoder.preface.utf8CodeUnitCount {
            guard offset < bytes.byteCount else {
                phase = .preface(matched)
                return .needMore
            }
            guard bytes.byte(at: offset) == HTTP2FrameEncoder.prefaceByte(matched) else { throw .connection(.notHTTP2) }
            offset += 1
            matched += 1
        }
        phase = .headerStart
        return nil
    }

    /// H9.8.
    private static var keptDebugData: Int { 256 }
}
