// How the values of background transfers become bytes and come back. Every type writes its parts one after
// the other and reads them in the same order; whatever the bytes are, reading ends with a value or with an
// error that says why not.
//
// It must not know files and sockets. Numbers are little-endian.

import URLLoadingPolicy

/// Why bytes are not what they should be.
package enum TransferCodingError: Error, Sendable, Hashable {
    /// They end too early.
    case truncated
    /// They do not begin like ours.
    case notOurs
    /// They are of a version that is not known here.
    case unknownVersion(UInt32)
    /// They were damaged: the digest is another.
    case damaged
    /// They are longer, or nested deeper, than is ever written.
    case tooLong
    /// A part has a value that it cannot have.
    case impossible
    /// More comes behind the end.
    case trailing

    /// What went wrong, for people.
    package var text: String {
        switch self {
        case .truncated: "it ends too early"
        case .notOurs: "it is none of ours"
        case .unknownVersion(let version): "its version \(version) is not known"
        case .damaged: "it is damaged"
        case .tooLong: "it is too long"
        case .impossible: "it has an impossible value"
        case .trailing: "more comes behind its end"
        }
    }
}

/// A value with a form in bytes, which takes one byte at least.
protocol TransferCoded {
    /// Puts the value behind what is there.
    func write(to writer: inout ByteWriter)
    /// Takes a value off the front.
    init(from reader: inout TransferReader) throws(TransferCodingError)
}

/// Takes values off the front of bytes.
struct TransferReader {
    private var bytes: ByteReader
    /// How much deeper values may be nested.
    private var depth = 16

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = ByteReader(bytes) }

    mutating func value<Value: TransferCoded>(
        _ type: Value.Type = Value.self
    ) throws(TransferCodingError) -> Value {
        try Value(from: &self)
    }

    mutating func number<Number: FixedWidthInteger>(
        _ type: Number.Type = Number.self
    ) throws(TransferCodingError) -> Number {
        guard let number = bytes.number(Number.self) else { throw .truncated }
        return number
    }

    mutating func run() throws(TransferCodingError) -> [UInt8] {
        guard let run = bytes.run() else { throw .truncated }
        return Array(run)
    }

    mutating func text() throws(TransferCodingError) -> String {
        guard let run = bytes.run() else { throw .truncated }
        guard let text = String(validating: run, as: UTF8.self) else { throw .impossible }
        return text
    }

    /// Reads something that may hold itself.
    mutating func deeper<Value>(
        _ read: (inout TransferReader) throws(TransferCodingError) -> Value
    ) throws(TransferCodingError) -> Value {
        guard depth > 0 else { throw .tooLong }
        depth -= 1
        let value = try read(&self)
        depth += 1
        return value
    }

    /// Leaves out what follows, whatever it is.
    mutating func skipRest() { bytes = ByteReader(UnsafeRawBufferPointer(start: nil, count: 0)) }

    /// Says that nothing may follow.
    func end() throws(TransferCodingError) {
        guard bytes.isAtEnd else { throw .trailing }
    }
}

extension ByteWriter {
    mutating func value(_ value: some TransferCoded) { value.write(to: &self) }
}

// MARK: What values are made of

extension Bool: TransferCoded {
    func write(to writer: inout ByteWriter) { writer.number(UInt8(self ? 1 : 0)) }
    init(from reader: inout TransferReader) throws(TransferCodingError) {
        switch try reader.number(UInt8.self) {
        case 0: self = false
        case 1: self = true
        default: throw .impossible
        }
    }
}

extension FixedWidthInteger where Self: TransferCoded {
    func write(to writer: inout ByteWriter) { writer.number(self) }
    init(from reader: inout TransferReader) throws(TransferCodingError) { self = try reader.number() }
}

extension Int64: TransferCoded {}
extension UInt64: TransferCoded {}
extension UInt32: TransferCoded {}
extension UInt16: TransferCoded {}

extension Float: TransferCoded {
    func write(to writer: inout ByteWriter) { writer.number(bitPattern) }
    init(from reader: inout TransferReader) throws(TransferCodingError) {
        self.init(bitPattern: try reader.number())
        guard isFinite else { throw .impossible }
    }
}

extension String: TransferCoded {
    func write(to writer: inout ByteWriter) { writer.text(self) }
    init(from reader: inout TransferReader) throws(TransferCodingError) { self = try reader.text() }
}

/// Bytes as they are.
struct TransferBytes: TransferCoded {
    var bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }
    func write(to writer: inout ByteWriter) { writer.run(bytes) }
    init(from reader: inout TransferReader) throws(TransferCodingError) { bytes = try reader.run() }
}

extension Optional: TransferCoded where Wrapped: TransferCoded {
    func write(to writer: inout ByteWriter) {
        writer.value(self != nil)
        if let self { writer.value(self) }
    }
    init(from reader: inout TransferReader) throws(TransferCodingError) {
        self = try reader.value(Bool.self) ? try reader.value(Wrapped.self) : nil
    }
}

extension Array: TransferCoded where Element: TransferCoded {
    func write(to writer: inout ByteWriter) {
        writer.number(UInt32(clamping: count))
        for element in self { writer.value(element) }
    }
    init(from reader: inout TransferReader) throws(TransferCodingError) {
        let count = try reader.number(UInt32.self)
        self = []
        // Each takes a byte at least, so a wrong count ends with the bytes.
        for _ in 0..<count { append(try reader.value()) }
    }
}

extension Optional<[UInt8]> {
    var coded: TransferBytes? { map { TransferBytes($0) } }
}

extension Array<[UInt8]> {
    var coded: [TransferBytes] { map { TransferBytes($0) } }
}
