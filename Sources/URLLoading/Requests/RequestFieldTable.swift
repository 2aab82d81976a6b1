// The header fields of a request as an application sets them: names compare without regard to case and keep
// their first spelling (B5.3), values are checked when they are set (B5.6).
//
// Must not know: which fields are reserved for the loader, and how fields look on the wire. RFC 9110 §5.

import URLLoadingPolicy
import URLLoadingWire

/// The fields of one request, in the order in which they were first set.
struct RequestFieldTable: Sendable {
    /// One field.
    struct Field: Sendable {
        var name: String
        var value: String
    }

    private(set) var fields: [Field] = []
    /// Where each name stands; empty where there are so few fields that a search costs less, and after a removal until
    /// the next field is added.
    private var places: [FieldName: Int] = [:]
    /// Whether fields were ever set, be it that none is left (B5.71).
    private var wasSet = false

    init() {}

    /// The fields of a message, sorted by name; each name is there once.
    init(_ message: Fields) {
        let shown = HeaderNames.dictionary(message)
        fields.reserveCapacity(shown.count)
        wasSet = true
        for (name, value) in shown.sorted(by: { $0.key < $1.key }) where FieldText.isAcceptable(value) {
            append(Field(name: name, value: value))
        }
    }

    var isEmpty: Bool { fields.isEmpty }

    /// The fields as a dictionary; `nil` until some were set (B5.1, B5.71).
    var dictionary: [String: String]? {
        guard wasSet else { return nil }
        var result: [String: String] = [:]
        result.reserveCapacity(fields.count)
        for field in fields { result[field.name] = field.value }
        return result
    }

    func value(_ name: String) -> String? {
        index(of: name).map { fields[$0].value }
    }

    /// Replaces a field's value under the spelling it already has; `nil` removes it (B5.5).
    mutating func set(_ value: String?, for name: String) {
        guard let value else {
            keep { !FieldText.sameName($0, name) }
            return
        }
        guard FieldText.isAcceptable(value) else { return }
        wasSet = true
        if let index = index(of: name) {
            fields[index].value = value
        } else {
            append(Field(name: name, value: value))
        }
    }

    /// Appends to a field with a comma and no space (B5.4).
    mutating func add(_ value: String, for name: String) {
        guard FieldText.isAcceptable(value) else { return }
        wasSet = true
        if let index = index(of: name) {
            fields[index].value += "," + value
        } else {
            append(Field(name: name, value: value))
        }
    }

    /// Replaces everything; sorted by name, because a dictionary's own order changes from run to run. `nil` makes the
    /// table as new.
    mutating func replaceAll(with dictionary: [String: String]?) {
        keep { _ in false }
        wasSet = dictionary != nil
        for (name, value) in (dictionary ?? [:]).sorted(by: { $0.key < $1.key }) { set(value, for: name) }
    }

    /// Removes the fields whose names do not pass.
    mutating func keep(_ isKept: (String) -> Bool) {
        fields.removeAll { !isKept($0.name) }
        places = [:]
    }

    private mutating func append(_ field: Field) {
        fields.append(field)
        guard fields.count > Self.searchedUpTo else { return }
        // All of them where there is no table yet.
        for index in (places.isEmpty ? 0 : fields.count - 1)..<fields.count {
            places[FieldName(fields[index].name)] = index
        }
    }

    private func index(of name: String) -> Int? {
        if !places.isEmpty { return places[FieldName(name)] }
        return fields.firstIndex { FieldText.sameName($0.name, name) }
    }

    /// Picked by feel: requests of programs have fewer.
    private static let searchedUpTo = 16
}

extension RequestFieldTable: Hashable {
    static func == (left: RequestFieldTable, right: RequestFieldTable) -> Bool {
        left.fields.count == right.fields.count
            && left.fields.allSatisfy { field in right.value(field.name) == field.value }
    }

    /// Names and order do not count, so that tables which compare as equal hash alike.
    func hash(into hasher: inout Hasher) {
        hasher.combine(fields.count)
        var sum = 0
        for field in fields { sum ^= field.value.hashValue }
        hasher.combine(sum)
    }
}

/// Questions about the text of names and values.
enum FieldText {
    /// Whether two names are the same field; only ASCII letters fold (RFC 9110 §5.1).
    static func sameName(_ left: String, _ right: String) -> Bool {
        FieldName(left) == FieldName(right)
    }

    /// Whether a value may be set: no NUL, and line ends only as CRLF before a space or tab (B5.6).
    static func isAcceptable(_ value: String) -> Bool {
        RequestFieldRules.unfolded(value) != nil
    }
}
