// Undoes one coding with zlib: gzip with any number of members, deflate in zlib's wrapping or without one. It works
// in the caller's memory in pieces the caller chooses and keeps only what zlib needs. It knows no message.
// RFC 1950, RFC 1951, RFC 1952.

import CURLLoadingZlib

/// A resumable decoder of one compressed stream.
package struct Inflater: ~Copyable {
    private enum Phase {
        /// No byte has come: an empty body is no error (B16.58).
        case untouched
        /// One byte of a deflate body has come; two tell zlib's wrapping from none.
        case sniffing(first: UInt8)
        case inflating
        /// A gzip member is complete, and so many bytes of another one's beginning have come.
        case betweenMembers(matched: Int)
        /// The stream is complete; what follows is ignored (B16.57).
        case complete
        case failed
    }

    /// What the data is called; the wrapping may be another (B16.50).
    package enum Format: Sendable, Equatable { case gzip, deflate }

    private let format: Format
    private var phase = Phase.untouched
    private var isInitialised = false
    /// zlib remembers the address, so the stream must not move with this value.
    private let stream: UnsafeMutablePointer<z_stream>

    /// Why decoding stopped, nil while it goes on.
    package private(set) var failure: WireError?

    /// Makes a decoder; zlib's own memory is taken when the first byte comes.
    package init(_ format: Format) {
        self.format = format
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
    }

    deinit {
        if isInitialised { inflateEnd(stream) }
        stream.deinitialize(count: 1)
        stream.deallocate()
    }

    /// Decodes from `input` at `offset` into `output` and returns how many bytes it wrote.
    ///
    /// If they are fewer than `output` holds, all input was used, or `failure` says why not.
    package mutating func decode(
        _ input: UnsafeRawBufferPointer, offset: inout Int, into output: UnsafeMutableRawBufferPointer
    ) -> Int {
        var produced = 0
        while true {
            switch phase {
            case .inflating:
                guard produced < output.count, inflatePiece(input, &offset, output, &produced) else { return produced }
            case .untouched:
                guard offset < input.count else { return produced }
                begin(input, &offset)
            case .sniffing(let first):
                guard offset < input.count else { return produced }
                begin(windowBits: Inflater.windowBits(first, input[offset]))
                feed([first])
            case .betweenMembers(let matched):
                guard offset < input.count else { return produced }
                readBetweenMembers(input[offset], matched, &offset)
            case .complete, .failed:
                offset = input.count
                return produced
            }
        }
    }

    /// The input is over: the error that makes the content incomplete or wrong, nil if it is neither.
    package func finish() -> WireError? {
        switch phase {
        case .untouched, .betweenMembers, .complete: nil
        case .sniffing, .inflating: .truncatedContent
        case .failed: failure
        }
    }

    // MARK: Beginning

    private mutating func begin(_ input: UnsafeRawBufferPointer, _ offset: inout Int) {
        switch format {
        case .gzip:
            begin(windowBits: Inflater.anyWrapping)
        case .deflate:
            guard offset + 1 < input.count else {
                phase = .sniffing(first: input[offset])
                offset += 1
                return
            }
            begin(windowBits: Inflater.windowBits(input[offset], input[offset + 1]))
        }
    }

    private mutating func begin(windowBits: Int32) {
        guard urlloading_inflateInit2(stream, windowBits) == Z_OK else { return fail(.decoderOutOfMemory) }
        isInitialised = true
        phase = .inflating
    }

    /// B16.50: a zlib header is two bytes that are divisible by 31 as one number and name method 8 (RFC 1950 §2.2); a
    /// gzip header is let through as well.
    ///
    /// Anything else is taken for raw deflate.
    private static func windowBits(_ first: UInt8, _ second: UInt8) -> Int32 {
        let isZlib = first & 0x0F == 8 && first >> 4 <= 7 && (Int(first) << 8 | Int(second)) % 31 == 0
        let isGzip = first == 0x1F && second == 0x8B
        return isZlib || isGzip ? anyWrapping : raw
    }

    // MARK: Inflating

    /// One call of zlib; false if nothing more can be done with this input and output.
    private mutating func inflatePiece(
        _ input: UnsafeRawBufferPointer, _ offset: inout Int, _ output: UnsafeMutableRawBufferPointer,
        _ produced: inout Int
    ) -> Bool {
        let available = UInt32(clamping: input.count - offset)
        let room = UInt32(clamping: output.count - produced)
        stream.pointee.next_in = UnsafeMutablePointer(
            mutating: input.baseAddress?.advanced(by: offset).assumingMemoryBound(to: UInt8.self))
        stream.pointee.avail_in = available
        stream.pointee.next_out = output.baseAddress?.advanced(by: produced).assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_out = room
        let result = inflate(stream, Z_SYNC_FLUSH)
        offset += Int(available - stream.pointee.avail_in)
        produced += Int(room - stream.pointee.avail_out)
        return settle(result, hasMoreInput: offset < input.count)
    }

    private mutating func settle(_ result: Int32, hasMoreInput: Bool) -> Bool {
        switch result {
        case Z_OK: return hasMoreInput
        case Z_BUF_ERROR: return false
        case Z_STREAM_END:
            phase = format == .gzip ? .betweenMembers(matched: 0) : .complete
            return true
        case Z_MEM_ERROR: fail(.decoderOutOfMemory)
        default: fail(dataError)
        }
        return true
    }

    /// What zlib found wrong: B16.56 wants the two trailer checks told apart from corrupt data.
    private var dataError: WireError {
        guard let message = stream.pointee.msg else { return .corruptContent }
        switch String(cString: message) {
        case "incorrect data check": return .contentChecksumMismatch
        case "incorrect length check": return .contentLengthMismatch
        default: return .corruptContent
        }
    }

    /// Gives zlib bytes that are no longer in the input: the beginning of a header, which produces nothing.
    private mutating func feed(_ bytes: [UInt8]) {
        guard case .inflating = phase else { return }
        var offset = 0
        var produced = 0
        var nothing: UInt8 = 0
        withUnsafeMutableBytes(of: &nothing) { nothing in
            bytes.withUnsafeBytes { bytes in
                _ = inflatePiece(bytes, &offset, nothing, &produced)
            }
        }
    }

    // MARK: Members

    /// B16.49: what follows a member is another member if it begins like one; else it is garbage (B16.57).
    private mutating func readBetweenMembers(_ byte: UInt8, _ matched: Int, _ offset: inout Int) {
        let magic: [UInt8] = [0x1F, 0x8B, 0x08]
        guard byte == magic[matched] else {
            phase = .complete
            return
        }
        offset += 1
        guard matched + 1 == magic.count else {
            phase = .betweenMembers(matched: matched + 1)
            return
        }
        guard inflateReset(stream) == Z_OK else { return fail(.corruptContent) }
        phase = .inflating
        feed(magic)
    }

    private mutating func fail(_ error: WireError) {
        failure = error
        phase = .failed
    }

    /// The largest window, and either of gzip's and zlib's wrappings.
    private static var anyWrapping: Int32 { 15 + 32 }
    /// The largest window without wrapping.
    private static var raw: Int32 { -15 }
}
