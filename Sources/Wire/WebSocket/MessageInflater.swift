// Undoes the compression of messages with zlib: raw deflate without its last four bytes (RFC 7692 §7.2.2). It writes
// behind the message in bounded pieces and stops where the message becomes too long, so a bomb costs no more than the
// longest message. RFC 7692, RFC 1951.

import CURLLoadingZlib

/// A decompressor of the messages that come from one peer.
package struct MessageInflater: ~Copyable {
    private let direction: DeflateDirection
    private var isInitialised = false
    /// zlib remembers the address, so the stream must not move with this value.
    private let stream: UnsafeMutablePointer<z_stream>

    /// Makes a decompressor; zlib's own memory is taken when the first byte comes.
    package init(_ direction: DeflateDirection) {
        self.direction = direction
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
    }

    deinit {
        if isInitialised { inflateEnd(stream) }
        stream.deinitialize(count: 1)
        stream.deallocate()
    }

    /// Decompresses bytes of a message and appends what they are.
    package mutating func inflate(
        _ input: UnsafeRawBufferPointer, into message: inout [UInt8], limit: Int
    ) throws(WebSocketFault) {
        if !isInitialised {
            guard urlloading_inflateInit2(stream, -Int32(direction.windowBits)) == Z_OK else { throw .outOfMemory }
            isInitialised = true
        }
        var offset = 0
        var isFull = true
        // A piece of output that was filled may leave more inside zlib although no input is left.
        while offset < input.count || isFull {
            isFull = try inflatePiece(input, &offset, &message, limit)
        }
    }

    /// The message's last byte has come: puts back what its sender has left out, and checks that it ends there.
    package mutating func finishMessage(into message: inout [UInt8], limit: Int) throws(WebSocketFault) {
        try withUnsafeBytes(of: UInt32(bigEndian: 0x0000_FFFF)) { tail throws(WebSocketFault) in
            try inflate(tail, into: &message, limit: limit)
        }
        // zlib tells in data_type whether it stands between two blocks, and how many bits of the last byte are unused.
        guard stream.pointee.data_type & 128 != 0, stream.pointee.data_type & 7 == 0 else { throw .corruptCompression }
        if !direction.keepsContext, inflateReset(stream) != Z_OK { throw .corruptCompression }
    }

    /// One call of zlib; whether it filled the room it had.
    private mutating func inflatePiece(
        _ input: UnsafeRawBufferPointer, _ offset: inout Int, _ message: inout [UInt8], _ limit: Int
    ) throws(WebSocketFault) -> Bool {
        let left = limit - message.count
        // What no longer fits is given one byte, to see whether there is anything.
        let room = max(1, min(left, max(Self.leastRoom, min(message.count, Self.mostRoom))))
        let available = UInt32(clamping: input.count - offset)
        stream.pointee.next_in = UnsafeMutablePointer(
            mutating: input.baseAddress?.advanced(by: offset).assumingMemoryBound(to: UInt8.self))
        stream.pointee.avail_in = available
        var result = Z_OK
        let stream = stream
        message.append(addingCapacity: room) { span in
            span.withUnsafeMutableBufferPointer { buffer, initializedCount in
                stream.pointee.next_out = buffer.baseAddress
                stream.pointee.avail_out = UInt32(clamping: room)
                result = CURLLoadingZlib.inflate(stream, Z_SYNC_FLUSH)
                initializedCount = room - Int(stream.pointee.avail_out)
            }
        }
        offset += Int(available - stream.pointee.avail_in)
        guard message.count <= limit else { throw .messageTooBig(limit: limit) }
        switch result {
        case Z_OK: break
        case Z_BUF_ERROR:
            // Neither input nor anything left inside: there is no more to do.
            guard offset == input.count else { throw .corruptCompression }
            return false
        case Z_STREAM_END:
            // RFC 7692 §7.2.3.4: a block may say that it is the last; what follows goes on with the same window.
            guard inflateResetKeep(stream) == Z_OK else { throw .corruptCompression }
            return false
        case Z_MEM_ERROR: throw .outOfMemory
        default: throw .corruptCompression
        }
        return stream.pointee.avail_out == 0
    }

    /// Output is taken in pieces of this size at first, then of the size of what is there. Picked by feel.
    private static var leastRoom: Int { 4 * 1024 }
    private static var mostRoom: Int { 256 * 1024 }
}
