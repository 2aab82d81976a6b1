// What --write-out says as JSON: %{json} has all variables, %{header_json} the fields of the answer.

/// Writes JSON for scripts.
enum WriteOutJSON {
    /// All variables by their names.
    static func values(_ source: any WriteOutSource) -> String {
        let members = WriteOutVariable.allCases.compactMap { variable -> String? in
            let value = source.value(of: variable)
            switch variable.kind {
            case .none: return nil
            case .text: return "\"\(variable.rawValue)\":\(value.map(JSONText.string) ?? "null")"
            // "007" is no number of JSON's.
            case .number:
                let number = value.map { $0.contains(".") ? $0 : String(Int64($0) ?? 0) }
                return "\"\(variable.rawValue)\":\(number ?? "null")"
            }
        }
        return "{" + members.joined(separator: ",") + "}"
    }

    /// Each name once, in lower case, with the values of all fields of that name.
    static func fields(_ fields: [HeaderField]) -> String {
        var names: [String] = []
        var values: [String: [String]] = [:]
        for field in fields {
            let name = field.name.lowercased()
            if values[name] == nil { names.append(name) }
            values[name, default: []].append(field.value)
        }
        let members = names.map { name in
            "\(JSONText.string(name)):[" + (values[name] ?? []).map(JSONText.string).joined(separator: ",") + "]"
        }
        return "{" + members.joined(separator: ",\n") + "\n}"
    }
}
