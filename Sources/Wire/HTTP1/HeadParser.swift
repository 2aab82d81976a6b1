// Reads the head of a message, in one piece or in many. A head that lies complete in the given bytes is parsed where
// it lies and copied once, into the memory of its fields. Of a head that comes in pieces the pieces are kept until it
// is complete. It knows nothing about bodies. RFC 9112 §2.1.

/// A resumable reader of heads and trailer sections.
package struct HeadParser: ~Copyable {
    /// What is being read.
    package enum Kind: Sendable {
        case response
        case request
        case trailers
    }

    private var lines: HeadLines
    /// The head so far, if it comes in pieces.
    private var buffer: [UInt8] = []
    /// The head, once it is complete.
    private var head = FieldTable()

    /// Makes a reader.
    package init(_ kind: Kind, limits: WireLimits = .standard) {
        var limits = limits
        if kind == .trailers { limits.headBytes = limits.trailerBytes }
        lines = HeadLines(kind: kind, limits: limits)
    }

    /// The budgets it keeps.
    var limits: WireLimits { lines.limits }

    /// Whether a part of a head has been read.
    package var isInside: Bool { !buffer.isEmpty }

    /// Reads from `bytes` at `offset`.
    ///
    /// True if the head is complete: it must be taken before the next call, and `offset` lies behind it. False if all
    /// bytes were used and more are needed.
    package mutating func parse(_ bytes: RawSpan, offset: inout Int) throws(WireError) -> Bool {
        if buffer.isEmpty {
            let rest = bytes.extracting(offset..<bytes.byteCount)
            if let end = try lines.advance(over: rest) {
                rest.withUnsafeBytes { complete($0.part(0, end)) }
                offset += end
                return true
            }
            buffer = rest.withUnsafeBytes { [UInt8]($0) }
            offset = bytes.byteCount
            return false
        }
        while offset < bytes.byteCount {
            // The head may end anywhere in the bytes, and what follows it is not ours: take a little at a time.
            let before = buffer.count
            let piece = bytes.extracting(offset..<min(bytes.byteCount, offset + 1024))
            piece.withUnsafeBytes { buffer.append(contentsOf: $0) }
            if let end = try lines.advance(over: buffer) {
                let whole = buffer
                buffer = []
                whole.withUnsafeBytes { complete($0.part(0, end)) }
                offset += end - before
                return true
            }
            offset += piece.byteCount
        }
        return false
    }

    /// Keeps what was read: every line of it lies in these bytes.
    private mutating func complete(_ bytes: UnsafeRawBufferPointer) {
        // Trailers are nearly always absent: no memory for the empty line that says so.
        if lines.kind == .trailers, lines.slots.isEmpty { return }
        head = FieldTable(bytes, lines.slots)
    }

    /// The response head that was completed.
    package mutating func takeResponseHead() -> ResponseHead {
        let (status, minor, byteCount) = (lines.status, lines.minorVersion, head.byteCount)
        let reason = unusualReason(status: status)
        return ResponseHead(
            status: status, unusualReason: reason, version: HTTPVersion(minor: minor), fields: takeFields(),
            byteCount: byteCount)
    }

    /// The request head that was completed.
    package mutating func takeRequestHead() -> RequestHead {
        let minor = lines.minorVersion
        let (method, target) = head.withContents { bytes, _ in
            (
                bytes.part(lines.first.lowerBound, lines.first.upperBound).text,
                bytes.part(lines.second.lowerBound, lines.second.upperBound).text
            )
        }
        return RequestHead(
            method: method, target: target, version: HTTPVersion(minor: minor), fields: takeFields())
    }

    /// The fields that were completed; the reader is ready for the next head.
    package mutating func takeFields() -> Fields {
        var table = FieldTable()
        swap(&table, &head)
        let needsCleaning = lines.needsCleaning
        lines.reset()
        if table.count == 0 { return Fields() }
        var fields = Fields(table)
        if needsCleaning { fields.cleanValues() }
        return fields
    }

    /// The reason phrase if it is not the registered one.
    private func unusualReason(status: Int) -> String? {
        head.withContents { bytes, _ in
            let reason = bytes.part(lines.first.lowerBound, lines.first.upperBound)
            let standard = ReasonPhrase.standard(for: status)
            let phrase = UnsafeRawBufferPointer(start: standard.utf8Start, count: standard.utf8CodeUnitCount)
            return reason.elementsEqual(phrase) ? nil : reason.text
        }
    }
}
