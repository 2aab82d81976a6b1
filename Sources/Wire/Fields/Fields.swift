// The fields of a message, in order of arrival: one byte buffer and a table of offsets into it. A head that was
// received keeps its bytes as they lay on the wire; text is made of a name or a value when somebody asks for it.
// Fields know nothing about what a field means: framing, caching and cookies are read out of them elsewhere.
// RFC 9110 §5.

/// An ordered list of fields that makes a `String` only on demand.
package struct Fields: Sendable {
    /// Where one field's name and value lie in the buffer.
    struct Slot: Sendable {
        var nameStart: Int
        var nameLength: Int
        var valueStart: Int
        var valueLength: Int
    }

    /// Names and values; also bytes that belong to neither (line ends, a start line, removed fields).
    var bytes: [UInt8]
    var slots: [Slot]
    /// What is known of the fields for good; any change takes it back.
    private(set) var seal = Seal.none

    /// Whether the fields are ready to be sent (`sealed()`), and what they then say about the connection.
    enum Seal: Sendable {
        case none
        case keepsConnection
        case closesConnection
    }

    /// Makes an empty list; allocates nothing.
    package init() {
        bytes = []
        slots = []
    }

    /// Takes over a buffer and the table that was made for it.
    init(bytes: consuming [UInt8], slots: consuming [Slot]) {
        self.bytes = bytes
        self.slots = slots
    }

    /// The number of fields; a name that came twice counts twice.
    package var count: Int { slots.count }

    /// Whether there is no field.
    package var isEmpty: Bool { slots.isEmpty }

    // MARK: Changing

    /// Adds a field behind the others; whether its bytes may be sent is checked when a message is encoded.
    package mutating func append(_ name: String, _ value: String) {
        name.withUTF8Bytes { name in value.withUTF8Bytes { append(name, $0) } }
    }

    /// Adds a field behind the others.
    package mutating func append(_ name: FieldName, _ value: String) { append(name.spelling, value) }

    /// Removes every field of that name and adds one behind the others.
    package mutating func replace(_ name: String, with value: String) {
        removeAll(name)
        append(name, value)
    }

    /// Removes every field of that name and adds one behind the others.
    package mutating func replace(_ name: FieldName, with value: String) { replace(name.spelling, with: value) }

    /// Removes every field of that name.
    package mutating func removeAll(_ name: String) { removeAll(FieldName(name)) }

    /// Removes every field of that name.
    package mutating func removeAll(_ name: FieldName) {
        guard contains(name) else { return }
        // The buffer is written anew, so that replacing a field over and over does not grow it.
        var kept = Fields()
        kept.reserve(fields: slots.count, bytes: bytes.count)
        name.withBytes { wanted in
            bytes.withUnsafeBytes { bytes in
                for slot in slots where !bytes.name(of: slot).equalsIgnoringCase(wanted) {
                    kept.append(bytes.name(of: slot), bytes.value(of: slot))
                }
            }
        }
        self = kept
    }

    /// Makes room, so that the next appends do not allocate.
    package mutating func reserve(fields: Int, bytes byteCount: Int) {
        slots.reserveCapacity(fields)
        bytes.reserveCapacity(byteCount)
    }

    private mutating func append(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        // Measured: growing from nothing by doubling costs a request's head five allocations.
        if bytes.capacity == 0 { reserve(fields: 12, bytes: 512) }
        seal = .none
        let start = bytes.count
        bytes.appendWire(capacity: name.count + value.count) { writer in
            writer.write(name)
            writer.write(value)
        }
        slots.append(
            Slot(
                nameStart: start, nameLength: name.count, valueStart: start + name.count, valueLength: value.count))
    }

    /// The same fields, checked and laid out as they are sent, so that each message that has them copies them whole.
    ///
    /// For fields that many requests share. Those that cannot be sent as they are stay as they are.
    package func sealed() -> Fields {
        guard seal == .none, let section = try? FieldSection(self, framing: .none, replacesFraming: true),
            section.framingFieldCount == 0
        else { return self }
        var sealed = Fields()
        sealed.reserve(fields: slots.count, bytes: section.byteCount)
        bytes.withUnsafeBytes { bytes in
            for slot in slots {
                let start = sealed.bytes.count
                sealed.bytes.append(contentsOf: bytes.name(of: slot))
                sealed.bytes.append(contentsOf: [ASCII.colon, ASCII.space])
                sealed.bytes.append(contentsOf: bytes.value(of: slot))
                sealed.bytes.append(contentsOf: [ASCII.carriageReturn, ASCII.lineFeed])
                sealed.slots.append(
                    Slot(
                        nameStart: start, nameLength: slot.nameLength, valueStart: start + slot.nameLength + 2,
                        valueLength: slot.valueLength))
            }
        }
        sealed.seal = askToClose ? .closesConnection : .keepsConnection
        return sealed
    }

    // MARK: Asking by name

    /// Whether there is a field of that name.
    package func contains(_ name: FieldName) -> Bool { firstSlot(name) != nil }

    /// The value of the first field of that name.
    package func first(_ name: FieldName) -> String? {
        guard let slot = firstSlot(name) else { return nil }
        return bytes.withUnsafeBytes { $0.value(of: slot).text }
    }

    /// The values of all fields of that name, in order of arrival.
    package func values(_ name: FieldName) -> [String] {
        var values: [String] = []
        forEachValue(name) { values.append($0.text) }
        return values
    }

    /// The values of all fields of that name joined by ", " in order of arrival, nil when there is none (B5.44).
    package func combined(_ name: FieldName) -> String? {
        var combined: String?
        forEachValue(name) { value in
            if combined == nil {
                combined = value.text
            } else {
                combined?.append(", ")
                combined?.append(value.text)
            }
        }
        return combined
    }

    /// Whether the comma lists under that name have the token as a member, without regard to case.
    package func hasToken(_ name: FieldName, _ token: String) -> Bool {
        var isFound = false
        token.withUTF8Bytes { wanted in
            forEachValue(name) { value in
                var members = ListMembers(value)
                while !isFound, let member = members.next() { isFound = member.equalsIgnoringCase(wanted) }
            }
        }
        return isFound
    }

    /// Whether `Connection: close` is among the fields: what `hasToken` tells, for the path of every request.
    package var askToClose: Bool {
        if seal != .none { return seal == .closesConnection }
        return bytes.withUnsafeBytes { bytes in
            for slot in slots where slot.nameLength == 10 && bytes.name(of: slot).equalsIgnoringCase("Connection") {
                var members = ListMembers(bytes.value(of: slot))
                while let member = members.next() {
                    if member.equalsIgnoringCase("close") { return true }
                }
            }
            return false
        }
    }

    /// Whether a name is as long as `Content-Encoding` or `Transfer-Encoding` and ends like them, which tells them from
    /// `Content-Language`.
    var mayNameCodings: Bool {
        bytes.withUnsafeBytes { bytes in
            slots.contains { slot in
                guard slot.nameLength == 16 || slot.nameLength == 17 else { return false }
                return bytes.name(of: slot).last.map { $0 | 0x20 } == UInt8(ascii: "g")
            }
        }
    }

    /// Whether the first value under that name begins with the text, without regard to case.
    package func first(_ name: FieldName, beginsWith text: String) -> Bool {
        guard let slot = firstSlot(name) else { return false }
        return bytes.withUnsafeBytes { bytes in
            let value = bytes.value(of: slot)
            return text.withUTF8Bytes { wanted in
                value.count >= wanted.count
                    && UnsafeRawBufferPointer(rebasing: value[..<wanted.count]).equalsIgnoringCase(wanted)
            }
        }
    }

    private func firstSlot(_ name: FieldName) -> Slot? {
        name.withBytes { wanted in
            bytes.withUnsafeBytes { bytes in
                for slot in slots where slot.nameLength == wanted.count {
                    if bytes.name(of: slot).equalsIgnoringCase(wanted) { return slot }
                }
                return nil
            }
        }
    }

    /// Calls `body` with the bytes of each value under that name, in order of arrival.
    package func forEachValue(_ name: FieldName, _ body: (UnsafeRawBufferPointer) -> Void) {
        name.withBytes { wanted in
            bytes.withUnsafeBytes { bytes in
                for slot in slots where slot.nameLength == wanted.count {
                    if bytes.name(of: slot).equalsIgnoringCase(wanted) { body(bytes.value(of: slot)) }
                }
            }
        }
    }

    // MARK: Asking by position

    /// The name of a field as it was spelled; `index` counts from 0 to `count - 1`.
    package func name(at index: Int) -> String { withNameBytes(at: index) { $0.text } }

    /// The value of a field without the white space around it; UTF-8, else ISO-8859-1 (B5.47).
    package func value(at index: Int) -> String { withValueBytes(at: index) { $0.text } }

    /// Calls `body` with the bytes of a name.
    package func withNameBytes<R>(at index: Int, _ body: (UnsafeRawBufferPointer) -> R) -> R {
        let slot = slots[index]
        return bytes.withUnsafeBytes { body($0.name(of: slot)) }
    }

    /// Calls `body` with the bytes of a value.
    package func withValueBytes<R>(at index: Int, _ body: (UnsafeRawBufferPointer) -> R) -> R {
        let slot = slots[index]
        return bytes.withUnsafeBytes { body($0.value(of: slot)) }
    }
}

extension Fields: Equatable {
    /// Whether both hold the same fields in the same order; names compare without regard to case.
    package static func == (left: Fields, right: Fields) -> Bool {
        guard left.count == right.count else { return false }
        return left.bytes.withUnsafeBytes { leftBytes in
            right.bytes.withUnsafeBytes { rightBytes in
                zip(left.slots, right.slots).allSatisfy { leftSlot, rightSlot in
                    leftBytes.name(of: leftSlot).equalsIgnoringCase(rightBytes.name(of: rightSlot))
                        && leftBytes.value(of: leftSlot).elementsEqual(rightBytes.value(of: rightSlot))
                }
            }
        }
    }
}

extension Fields: CustomStringConvertible {
    /// The names only: values may be secrets and do not belong into a log by accident.
    package var description: String {
        "[" + (0..<count).map { name(at: $0) }.joined(separator: ", ") + "]"
    }
}

extension UnsafeRawBufferPointer {
    @inline(__always)
    func name(of slot: Fields.Slot) -> UnsafeRawBufferPointer {
        part(slot.nameStart, slot.nameStart &+ slot.nameLength)
    }

    @inline(__always)
    func value(of slot: Fields.Slot) -> UnsafeRawBufferPointer {
        part(slot.valueStart, slot.valueStart &+ slot.valueLength)
    }
}
