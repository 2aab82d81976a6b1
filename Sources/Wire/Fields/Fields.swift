// The fields of a message, in order of arrival, in one `FieldTable`. A head that was received keeps its bytes as they
// lay on the wire; text is made of a name or a value when it is asked for.
// Fields know nothing about what a field means: framing, caching and cookies are read out of them elsewhere.
// RFC 9110 §5.

/// An ordered list of fields that makes a `String` only on demand.
package struct Fields: Sendable {
    /// Where one field's name and value lie among the bytes.
    struct Slot: BitwiseCopyable {
        var nameStart: Int
        var nameLength: Int
        var valueStart: Int
        var valueLength: Int
    }

    /// Names and values, and where they lie.
    private(set) var table: FieldTable
    /// What is known of the fields for good; any change takes it back.
    private(set) var seal = Seal.none

    /// Whether the fields are ready to be sent (`sealed()`), and what they then say about the connection.
    enum Seal: Sendable {
        case none
        case keepsConnection
        case closesConnection
    }

    /// Makes an empty list; allocates nothing.
    package init() { table = FieldTable() }

    /// Makes a list of what a table holds.
    init(_ table: consuming FieldTable) { self.table = table }

    /// The number of fields; a name that came twice counts twice.
    package var count: Int { table.count }

    /// How many bytes are kept for the fields; some may belong to none, such as line ends.
    package var byteCount: Int { table.byteCount }

    /// Whether there is no field.
    package var isEmpty: Bool { table.count == 0 }

    // MARK: Changing

    /// Adds a field behind the others; whether its bytes may be sent is checked when a message is encoded.
    package mutating func append(_ name: String, _ value: String) {
        name.withUTF8Bytes { name in value.withUTF8Bytes { append(name, $0) } }
    }

    /// Adds a field behind the others.
    package mutating func append(_ name: FieldName, _ value: String) { append(name.spelling, value) }

    /// Adds a field behind the others whose value is bytes: what was received need not be UTF-8 (B5.47).
    package mutating func append(_ name: String, _ value: UnsafeRawBufferPointer) {
        name.withUTF8Bytes { append($0, value) }
    }

    /// Adds a field of other ones behind the others, with the bytes that it has there.
    package mutating func append(fieldAt index: Int, of other: Fields) {
        other.table.withContents { bytes, slots in
            let slot = slots[index]
            append(bytes.name(of: slot), bytes.value(of: slot))
        }
    }

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
        kept.reserve(fields: count, bytes: table.byteCount)
        name.withBytes { wanted in
            table.withContents { bytes, slots in
                for slot in slots where !bytes.name(of: slot).equalsIgnoringCase(wanted) {
                    kept.append(bytes.name(of: slot), bytes.value(of: slot))
                }
            }
        }
        self = kept
    }

    /// Makes room, so that the next appends do not allocate.
    package mutating func reserve(fields: Int, bytes: Int) { table.reserve(fields: fields, bytes: bytes) }

    /// Changes bytes and places at will.
    mutating func rewrite(_ body: (inout [UInt8], inout [Slot]) -> Void) {
        seal = .none
        table.rewrite(body)
    }

    private mutating func append(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        // Measured: growing from nothing by doubling costs a request's head five allocations.
        if table.isUntouched { reserve(fields: 12, bytes: 512) }
        seal = .none
        table.append(name, value)
    }

    /// A copy of the fields, checked and laid out as they are sent, so that each message that
    /// has them copies them whole.
    ///
    /// For fields that many requests share. Those that cannot be sent as they are stay as they are.
    package func sealed() -> Fields {
        guard seal == .none, let section = try? FieldSection(self, framing: .none, replacesFraming: true),
            section.framingFieldCount == 0
        else { return self }
        var laidOut: [UInt8] = []
        var places: [Slot] = []
        laidOut.reserveCapacity(section.byteCount)
        table.withContents { bytes, slots in
            for slot in slots {
                let start = laidOut.count
                laidOut += bytes.name(of: slot)
                laidOut += [ASCII.colon, ASCII.space]
                laidOut += bytes.value(of: slot)
                laidOut += [ASCII.carriageReturn, ASCII.lineFeed]
                places.append(
                    Slot(
                        nameStart: start, nameLength: slot.nameLength, valueStart: start + slot.nameLength + 2,
                        valueLength: slot.valueLength))
            }
        }
        var sealed = Fields(laidOut.withUnsafeBytes { FieldTable($0, places) })
        sealed.seal = askToClose ? .closesConnection : .keepsConnection
        return sealed
    }

    // MARK: Asking by name

    /// Whether there is a field of that name.
    package func contains(_ name: FieldName) -> Bool { firstSlot(name) != nil }

    /// Whether there is a field of the name that one of other fields has.
    package func contains(nameOfFieldAt index: Int, of other: Fields) -> Bool {
        other.withNameBytes(at: index) { firstSlot($0) != nil }
    }

    /// The value of the first field of that name.
    package func first(_ name: FieldName) -> String? {
        guard let slot = firstSlot(name) else { return nil }
        return table.withContents { bytes, _ in bytes.value(of: slot).text }
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
        return table.withContents { bytes, slots in
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
        table.withContents { bytes, slots in
            slots.contains { slot in
                guard slot.nameLength == 16 || slot.nameLength == 17 else { return false }
                return bytes.name(of: slot).last.map { $0 | 0x20 } == UInt8(ascii: "g")
            }
        }
    }

    /// Whether the first value under that name begins with the text, without regard to case.
    package func first(_ name: FieldName, beginsWith text: String) -> Bool {
        guard let slot = firstSlot(name) else { return false }
        return table.withContents { bytes, _ in
            let value = bytes.value(of: slot)
            return text.withUTF8Bytes { wanted in
                value.count >= wanted.count
                    && UnsafeRawBufferPointer(rebasing: value[..<wanted.count]).equalsIgnoringCase(wanted)
            }
        }
    }

    private func firstSlot(_ name: FieldName) -> Slot? { name.withBytes { firstSlot($0) } }

    @inline(__always)
    private func firstSlot(_ wanted: UnsafeRawBufferPointer) -> Slot? {
        table.withContents { bytes, slots in
            for slot in slots where slot.nameLength == wanted.count {
                if bytes.name(of: slot).equalsIgnoringCase(wanted) { return slot }
            }
            return nil
        }
    }

    /// Calls `body` with the bytes of each value under that name, in order of arrival.
    package func forEachValue(_ name: FieldName, _ body: (UnsafeRawBufferPointer) -> Void) {
        name.withBytes { wanted in
            table.withContents { bytes, slots in
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
        table.withContents { bytes, slots in body(bytes.name(of: slots[index])) }
    }

    /// Calls `body` with the bytes of a value.
    package func withValueBytes<R>(at index: Int, _ body: (UnsafeRawBufferPointer) -> R) -> R {
        table.withContents { bytes, slots in body(bytes.value(of: slots[index])) }
    }
}

extension Fields: Equatable {
    /// Whether both hold the same fields in the same order; names compare without regard to case.
    package static func == (left: Fields, right: Fields) -> Bool {
        guard left.count == right.count else { return false }
        return left.table.withContents { leftBytes, leftSlots in
            right.table.withContents { rightBytes, rightSlots in
                zip(leftSlots, rightSlots).allSatisfy { leftSlot, rightSlot in
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
