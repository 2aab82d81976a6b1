// The fields of a message that is about to be written: checked and measured first, so that the bytes can then be
// written in one go into a buffer of the right size. RFC 9112 §5, RFC 9110 §5.5.

/// Fields and framing, checked, with the number of bytes they take.
struct FieldSection {
    private let fields: Fields
    private let framing: BodyFraming
    private let replacesFraming: Bool
    /// At least as many bytes as will be written.
    let byteCount: Int

    /// Checks every name and value; throws if one may not be sent.
    init(_ fields: Fields, framing: BodyFraming, replacesFraming: Bool) throws(WireError) {
        if case .length(let count) = framing, count < 0 { throw .unsendableFraming }
        self.fields = fields
        self.framing = framing
        self.replacesFraming = replacesFraming
        if fields.seal != .none {
            byteCount = fields.table.byteCount &+ FieldSection.framingRoom
            return
        }
        byteCount = try fields.table.withContents { (bytes, slots) throws(WireError) -> Int in
            var byteCount = FieldSection.framingRoom
            let bytes = bytes.bytes
            for slot in slots {
                let nameEnd = slot.nameStart &+ slot.nameLength
                guard slot.nameLength > 0, bytes.endOfToken(from: slot.nameStart, to: nameEnd) == nameEnd
                else { throw .unsendableFieldName }
                let valueEnd = slot.valueStart &+ slot.valueLength
                guard bytes.endOfText(from: slot.valueStart, to: valueEnd) == valueEnd
                else { throw .unsendableFieldValue }
                byteCount &+= slot.nameLength &+ slot.valueLength &+ 4
            }
            return byteCount
        }
    }

    /// Writes the fields, the framing field and the empty line.
    func write(to writer: inout WireWriter) {
        fields.table.withContents { bytes, slots in
            if fields.seal != .none { return writer.write(bytes) }
            for slot in slots {
                let name = bytes.name(of: slot)
                if replacesFraming, isFramingName(name) { continue }
                writer.write(name)
                writer.write(": ")
                writer.write(bytes.value(of: slot))
                writer.write("\r\n")
            }
        }
        switch framing {
        case .none, .untilClose: break
        case .length(let count):
            writer.write("Content-Length: ")
            writer.write(decimal: count)
            writer.write("\r\n")
        case .chunked: writer.write("Transfer-Encoding: chunked\r\n")
        }
        writer.write("\r\n")
    }

    /// How many of the fields say something about framing.
    var framingFieldCount: Int {
        fields.table.withContents { bytes, slots in slots.count { isFramingName(bytes.name(of: $0)) } }
    }

    private func isFramingName(_ name: UnsafeRawBufferPointer) -> Bool {
        switch name.count {
        case 14: name.equalsIgnoringCase("Content-Length")
        case 17: name.equalsIgnoringCase("Transfer-Encoding")
        default: false
        }
    }

    /// "Content-Length: ", nineteen digits, two line ends.
    private static var framingRoom: Int { 16 + 19 + 4 }
}

/// Writes bytes one behind the other into memory of a known size; what does not fit is left out.
struct WireWriter {
    private let memory: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    init(_ memory: UnsafeMutableRawBufferPointer) { self.memory = memory }

    @inline(__always)
    mutating func write(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count <= memory.count &- count, let target = memory.baseAddress, let source = bytes.baseAddress
        else { return }
        (target + count).copyMemory(from: source, byteCount: bytes.count)
        count &+= bytes.count
    }

    @inline(__always)
    mutating func write(_ text: StaticString) {
        write(text.bytes)
    }

    @inline(__always)
    mutating func write(_ text: String) {
        text.withUTF8Bytes { write($0) }
    }

    @inline(__always)
    mutating func write(_ byte: UInt8) {
        guard count < memory.count else { return }
        memory[count] = byte
        count &+= 1
    }

    mutating func write(decimal number: Int64) {
        var divisor: Int64 = 1
        while number / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            write(ASCII.zero + UInt8(truncatingIfNeeded: number / divisor % 10))
            divisor /= 10
        }
    }
}

extension [UInt8] {
    /// Appends what `body` writes, at most `capacity` bytes, growing the array once.
    mutating func appendWire(capacity: Int, _ body: (inout WireWriter) -> Void) {
        append(addingCapacity: capacity) { span in
            span.withUnsafeMutableBufferPointer { buffer, initializedCount in
                var writer = WireWriter(UnsafeMutableRawBufferPointer(buffer))
                body(&writer)
                initializedCount = writer.count
            }
        }
    }
}
