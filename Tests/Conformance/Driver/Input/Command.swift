// A line of input as a command. Driver protocol, section 1.

import URLLoadingTestSupport

/// A command: what to do, and the number of its answer.
struct Command {
    let id: Int64
    let op: String
    var members: Members

    /// Reads a line; where that fails, the number that the answer needs is given if it could be read.
    static func read(_ line: [UInt8]) -> Result<Command, Unreadable> {
        var parser = JSONParser(line)
        let value: JSONValue
        do throws(JSONFault) {
            value = try parser.parse()
        } catch {
            let id = parser.outermost.first { $0.name == "id" }?.value.integer
            return .failure(Unreadable(id: id, reason: "\(error.reason) at byte \(error.offset)"))
        }
        guard case .object(let members) = value else {
            return .failure(Unreadable(id: nil, reason: "the line is not an object"))
        }
        guard let id = value["id"]?.integer else {
            return .failure(Unreadable(id: nil, reason: "id is not an integer"))
        }
        guard case .string(let op)? = value["op"] else {
            return .failure(Unreadable(id: id, reason: "op is not a string"))
        }
        let rest = members.filter { $0.name != "id" && $0.name != "op" }
        return .success(Command(id: id, op: op, members: Members(rest, of: op)))
    }

    /// A line that is no command.
    struct Unreadable: Error, Equatable {
        let id: Int64?
        let reason: String
    }
}

extension JSONValue {
    /// The number, if it is an integer.
    fileprivate var integer: Int64? {
        if case .integer(let number) = self { number } else { nil }
    }
}
