// What OpenSSL reads from and writes to: the caller's input in place, and one buffer of ciphertext to send. Does not
// know sockets; an empty input means "come back later".

import CURLLoadingOpenSSL

/// The state behind a session's BIO, at an address that does not move.
///
/// It holds nothing that Swift counts, so callbacks and methods can reach it at the same time without a check.
struct Transport {
    private var input: UnsafePointer<UInt8>?
    private var inputCount = 0
    private var outgoing: UnsafeMutableRawPointer?
    private var outgoingCapacity = 0
    private var outgoingStart = 0
    private var outgoingEnd = 0
    /// The last fatal alert that OpenSSL has written.
    var alertSent: UInt8?
    /// The last fatal alert that OpenSSL has read.
    var alertReceived: UInt8?
    /// Whether there was no memory for what OpenSSL has written.
    var isExhausted = false
    /// Whether the peer has asked for renegotiation.
    var renegotiationAsked = false
    /// How many messages of TLS itself have come in the call for which `begin` has shown input.
    var messagesMet = 0
    /// How many have come since the last data, or since the handshake.
    var messagesInARow = 0
    /// How many OpenSSL has written since all that waits to be sent was sent last.
    var messagesUnsent = 0
    private var boundary = RecordBoundary()

    /// The BIO over a transport, with one reference for the caller.
    static func makeBIO(_ transport: UnsafeMutablePointer<Transport>) -> OpaquePointer? {
        guard let method = method.pointer, let bio = BIO_new(method) else { return nil }
        BIO_set_data(bio, transport)
        BIO_set_init(bio, 1)
        return bio
    }

    /// Shows OpenSSL the input for the time of one call.
    mutating func begin(_ bytes: UnsafeRawBufferPointer, from offset: Int) {
        let offset = min(max(0, offset), bytes.count)
        input = bytes.baseAddress.map { ($0 + offset).assumingMemoryBound(to: UInt8.self) }
        inputCount = input == nil ? 0 : bytes.count - offset
        messagesMet = 0
    }

    /// Ends what `begin` began and answers how much of the input is left.
    mutating func end() -> Int {
        defer { (input, inputCount) = (nil, 0) }
        return inputCount
    }

    var isInputEmpty: Bool { inputCount == 0 }

    /// Whether OpenSSL has taken whole records only.
    var isBetweenRecords: Bool { boundary.isBetweenRecords }

    /// Copies input for OpenSSL; 0 when there is none.
    mutating func read(into target: UnsafeMutableRawPointer, _ count: Int) -> Int {
        let count = min(count, inputCount)
        guard count > 0, let from = input else { return 0 }
        target.copyMemory(from: from, byteCount: count)
        boundary.passed(UnsafeBufferPointer(start: from, count: count))
        input = from + count
        inputCount -= count
        return count
    }

    /// Appends ciphertext; false when memory is exhausted.
    mutating func write(_ bytes: UnsafeRawPointer, _ count: Int) -> Bool {
        if outgoingEnd + count > outgoingCapacity, !makeRoom(for: count) {
            isExhausted = true
            return false
        }
        guard let outgoing else { return count == 0 }
        (outgoing + outgoingEnd).copyMemory(from: bytes, byteCount: count)
        outgoingEnd += count
        return true
    }

    /// Makes room at once for the records of so much plaintext, in place of growing with each of them.
    mutating func reserve(forPlaintext count: Int) {
        let (overhead, isTooMuch) = (count / Self.recordPlaintext + 1).multipliedReportingOverflow(
            by: Self.recordOverhead)
        let (needed, isMore) = count.addingReportingOverflow(overhead)
        if isTooMuch || isMore { return }
        if needed > outgoingCapacity - outgoingEnd { _ = makeRoom(for: needed) }
    }

    /// The ciphertext that waits to be sent.
    var waiting: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: outgoing.map { $0 + outgoingStart }, count: outgoingEnd - outgoingStart)
    }

    var hasWaiting: Bool { outgoingEnd > outgoingStart }

    /// Drops the first bytes; the memory goes when nothing waits, so that idle sessions own none.
    mutating func sent(_ count: Int) {
        outgoingStart = min(outgoingEnd, outgoingStart + max(0, count))
        if outgoingStart == outgoingEnd { releaseOutgoing() }
    }

    /// Drops everything that waits, and sends these few bytes in its place.
    mutating func replaceOutgoing(with bytes: [UInt8]) {
        releaseOutgoing()
        bytes.withUnsafeBytes { bytes in
            if let start = bytes.baseAddress { _ = write(start, bytes.count) }
        }
    }

    mutating func releaseOutgoing() {
        Platform.release(outgoing)
        (outgoing, outgoingCapacity, outgoingStart, outgoingEnd) = (nil, 0, 0, 0)
        messagesUnsent = 0
    }

    private mutating func makeRoom(for count: Int) -> Bool {
        if outgoingStart > 0, let outgoing {
            outgoing.copyMemory(from: outgoing + outgoingStart, byteCount: outgoingEnd - outgoingStart)
            (outgoingStart, outgoingEnd) = (0, outgoingEnd - outgoingStart)
        }
        let needed = outgoingEnd + count
        if needed <= outgoingCapacity { return true }
        // Where doubling is too much for an Int, exactly what is needed is asked for.
        let capacity = max(needed, outgoingCapacity &* 2)
        guard let larger = Platform.resize(outgoing, to: capacity) else { return false }
        (outgoing, outgoingCapacity) = (larger, capacity)
        return true
    }

    // RFC 8446 section 5.1; the overhead is that of the largest suite of TLS 1.2, header and padding included.
    private static let recordPlaintext = 16_384
    private static let recordOverhead = 96

    private static let method = TransportMethod()
}

/// OpenSSL's description of our BIO, made once for the process and never changed.
private struct TransportMethod: Sendable {
    private let address: UInt

    init() {
        let method = BIO_meth_new(BIO_get_new_index() | Int32(BIO_TYPE_SOURCE_SINK), "URLLoading")
        BIO_meth_set_read_ex(method, readInput)
        BIO_meth_set_write_ex(method, writeOutgoing)
        BIO_meth_set_ctrl(method, control)
        address = UInt(bitPattern: method)
    }

    var pointer: OpaquePointer? { OpaquePointer(bitPattern: address) }
}

private func transport(of bio: OpaquePointer?) -> UnsafeMutablePointer<Transport>? {
    BIO_get_data(bio)?.assumingMemoryBound(to: Transport.self)
}

private func readInput(
    _ bio: OpaquePointer?, _ target: UnsafeMutablePointer<CChar>?, _ count: Int, _ read: UnsafeMutablePointer<Int>?
) -> Int32 {
    guard let target, let transport = transport(of: bio) else { return 0 }
    let copied = transport.pointee.read(into: target, count)
    read?.pointee = copied
    if copied > 0 {
        shim_bio_clear_retry(bio)
        return 1
    }
    shim_bio_want_read(bio)
    return 0
}

private func writeOutgoing(
    _ bio: OpaquePointer?, _ bytes: UnsafePointer<CChar>?, _ count: Int, _ written: UnsafeMutablePointer<Int>?
) -> Int32 {
    guard let bytes, let transport = transport(of: bio) else { return 0 }
    shim_bio_clear_retry(bio)
    guard transport.pointee.write(bytes, count) else { return 0 }
    written?.pointee = count
    return 1
}

private func control(
    _: OpaquePointer?, _ command: Int32, _: Int, _: UnsafeMutableRawPointer?
) -> Int {
    // Everything is written at once, so a flush has nothing to do; no other command has a meaning here.
    command == BIO_CTRL_FLUSH ? 1 : 0
}
